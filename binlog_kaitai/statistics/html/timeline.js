// The chart over time: as many bars as there is room for, of the span that was zoomed into.
const SVG = 'http://www.w3.org/2000/svg';
const SERIES = [
  ['bytes', 'Bytes', ['bytes'], bytes],
  ['transactions', 'Transactions', ['transactions'], inThousands],
  ['events', 'Events', ['events'], inThousands],
  ['rows', 'Rows', ['rows_inserted', 'rows_updated', 'rows_deleted'], inThousands],
];
const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 604800, 2419200, 31449600, 314496000];
const MARGIN = { left: 62, right: 8, top: 10, bottom: 22 };

function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A round number that is not less; of bytes, one that is round in its unit.
function roundUp(value, isBytes) {
  let unit = 1;
  while (isBytes && value / unit >= 1000) unit *= 1024;
  const power = 10 ** Math.floor(Math.log10(Math.max(value / unit, 1)));
  return [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].map((factor) => factor * power * unit).find((one) => one >= value);
}

class Timeline {
  constructor(part) {
    this.rows = part.rows;
    this.names = part.columns.map(([name]) => name);
    this.first = this.rows[0][0];
    this.last = this.rows[this.rows.length - 1][0] + data.step;
    this.series = SERIES[0];
    this.box = byId('chart');
    this.tip = element('div', { class: 'tip', hidden: true });
    for (const series of SERIES) {
      byId('series').append(element('button', { type: 'button', 'data-series': series[0],
        onclick: () => { this.series = series; this.draw(); } }, series[1]));
    }
    byId('reset').addEventListener('click', () => this.showAll());
    this.box.addEventListener('dblclick', () => this.showAll());
    this.box.addEventListener('pointerdown', (event) => this.press(event));
    this.box.addEventListener('pointermove', (event) => this.move(event));
    this.box.addEventListener('pointerup', (event) => this.release(event));
    this.box.addEventListener('pointerleave', () => { this.tip.hidden = true; this.mark(null); });
    this.box.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.box.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.showAll();
  }

  showAll() { this.zoom(this.first, this.last); }

  zoom(start, end) {
    const least = data.step;
    if (end - start < least) { const middle = (start + end) / 2; start = middle - least / 2; end = start + least; }
    start = Math.max(this.first, Math.floor(start / least) * least);
    end = Math.min(this.last, Math.ceil(end / least) * least);
    if (end <= start) return;
    this.start = start;
    this.end = end;
    this.draw();
  }

  bars(width) {
    const most = Math.max(10, Math.floor(width / 5));
    const step = Math.max(data.step, STEPS.find((one) => (this.end - this.start) / one <= most) || STEPS[STEPS.length - 1]);
    const found = new Map();
    for (const row of this.rows) {
      if (row[0] < this.start || row[0] >= this.end) continue;
      const start = Math.floor(row[0] / step) * step;
      const sums = found.get(start) || this.names.map(() => 0);
      row.forEach((value, index) => { if (index) sums[index] += value; });
      sums[0] = start;
      found.set(start, sums);
    }
    this.step = step;
    this.found = found;
    return [...found.values()];
  }

  draw() {
    const width = this.box.clientWidth;
    const height = this.box.clientHeight;
    if (!width) return;
    const inner = width - MARGIN.left - MARGIN.right;
    const floor = height - MARGIN.bottom;
    const bars = this.bars(inner);
    const columns = this.series[2].map((name) => this.names.indexOf(name));
    const value = (bar) => columns.reduce((sum, column) => sum + bar[column], 0);
    const top = roundUp(Math.max(2, ...bars.map(value)), this.series[0] === 'bytes');
    const scale = (floor - MARGIN.top) / top;
    this.x = (moment) => MARGIN.left + inner * (moment - this.start) / (this.end - this.start);
    this.moment = (x) => this.start + (this.end - this.start) * Math.min(Math.max((x - MARGIN.left) / inner, 0), 1);
    const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': this.series[1] + ' over time' });
    for (const part of [0, 0.5, 1]) {
      const y = floor - part * top * scale;
      picture.append(svg('line', { class: 'grid', x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      picture.append(svg('text', { x: MARGIN.left - 8, y: y + 4, 'text-anchor': 'end' }, this.series[3](part * top)));
    }
    for (const bar of bars) {
      const left = this.x(Math.max(bar[0], this.start));
      const right = this.x(Math.min(bar[0] + this.step, this.end));
      let y = floor;
      columns.forEach((column, index) => {
        if (!bar[column]) return;
        const size = Math.max(bar[column] * scale, 1);
        y -= size;
        picture.append(svg('rect', { class: columns.length > 1 ? this.names[column] : 'bar',
          x: left, y, width: Math.max(right - left - (right - left > 4 ? 1 : 0), 0.7), height: size, 'data-start': bar[0] }));
      });
    }
    this.axis(picture, inner, height);
    this.cursor = svg('rect', { class: 'cursor', y: MARGIN.top, height: floor - MARGIN.top, width: 0 });
    this.brush = svg('rect', { class: 'brush', y: MARGIN.top, height: floor - MARGIN.top, width: 0 });
    picture.append(this.cursor, this.brush);
    this.box.replaceChildren(picture, this.tip);
    for (const button of byId('series').children) {
      button.setAttribute('aria-pressed', String(button.dataset.series === this.series[0]));
    }
    byId('legend').replaceChildren(...(columns.length < 2 ? [] : this.series[2].map((name) =>
      element('span', {}, element('span', { class: 'swatch ' + name }), name.replace('rows_', '')))));
    byId('range').textContent = time(this.start) + ' – ' + time(this.end) + ' · steps of ' + seconds(this.step);
    byId('reset').hidden = this.start === this.first && this.end === this.last;
  }

  axis(picture, inner, height) {
    const most = Math.max(2, Math.floor(inner / 150));
    const step = STEPS.find((one) => (this.end - this.start) / one <= most) || STEPS[STEPS.length - 1];
    for (let at = Math.ceil(this.start / step) * step; at <= this.end; at += step) {
      const text = step >= 86400 ? time(at).slice(0, 10) : step >= 60 ? time(at).slice(5, 16) : time(at).slice(11);
      const x = this.x(at);
      const anchor = x < MARGIN.left + 30 ? 'start' : x > MARGIN.left + inner - 40 ? 'end' : 'middle';
      picture.append(svg('text', { x, y: height - 6, 'text-anchor': anchor }, text));
    }
  }

  place(event) { return event.clientX - this.box.getBoundingClientRect().left; }

  press(event) {
    if (event.button !== 0) return;
    this.from = this.place(event);
    this.box.setPointerCapture(event.pointerId);
  }

  move(event) {
    const x = this.place(event);
    if (this.from !== undefined) {
      this.brush.setAttribute('x', Math.min(this.from, x));
      this.brush.setAttribute('width', Math.abs(x - this.from));
    }
    const start = Math.floor(this.moment(x) / this.step) * this.step;
    this.mark(start);
    const bar = this.found.get(start);
    const lines = bar ? SERIES.flatMap(([, , names, write]) => names.map((name) =>
      element('div', {}, name.replace('_', ' ') + ': ' + write(bar[this.names.indexOf(name)])))) : ['nothing'];
    this.tip.replaceChildren(element('b', {}, time(start)), ...lines);
    this.tip.hidden = false;
    const room = this.box.clientWidth - this.tip.offsetWidth - 8;
    this.tip.style.left = (x + 14 > room ? Math.max(x - this.tip.offsetWidth - 14, 0) : x + 14) + 'px';
  }

  mark(start) {
    if (!this.cursor) return;
    const left = start === null ? 0 : this.x(Math.max(start, this.start));
    this.cursor.setAttribute('x', left);
    this.cursor.setAttribute('width', start === null ? 0 : Math.max(this.x(Math.min(start + this.step, this.end)) - left, 0));
  }

  release(event) {
    if (this.from === undefined) return;
    const [left, right] = [this.from, this.place(event)].sort((one, other) => one - other);
    this.from = undefined;
    if (right - left > 4) this.zoom(this.moment(left), this.moment(right));
    else this.draw();
  }

  wheel(event) {
    event.preventDefault();
    this.scale(event.deltaY > 0 ? 1.25 : 0.8, this.moment(this.place(event)));
  }

  scale(factor, around) {
    this.zoom(around - (around - this.start) * factor, around + (this.end - around) * factor);
  }

  key(event) {
    const middle = (this.start + this.end) / 2;
    const shift = (this.end - this.start) / 4;
    if (event.key === '+' || event.key === '=') this.scale(0.5, middle);
    else if (event.key === '-') this.scale(2, middle);
    else if (event.key === 'ArrowLeft' && this.start > this.first) this.zoom(Math.max(this.start - shift, this.first), this.end - Math.min(shift, this.start - this.first));
    else if (event.key === 'ArrowRight' && this.end < this.last) this.zoom(this.start + Math.min(shift, this.last - this.end), Math.min(this.end + shift, this.last));
    else if (event.key === 'Escape' || event.key === '0') this.showAll();
    else return;
    event.preventDefault();
  }
}
