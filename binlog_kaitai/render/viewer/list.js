// The list of events: only the rows in sight are elements.

const ROW_HEIGHT = 44;
/** Browsers do not scroll further than this, in pixels; a longer list is scrolled in proportion. */
const TALLEST = 8_000_000;

const KINDS = [
  ['insert', /^(WRITE_ROWS|PRE_GA_WRITE)/], ['update', /^(PARTIAL_)?UPDATE_ROWS|^PRE_GA_UPDATE/],
  ['delete', /^(DELETE_ROWS|PRE_GA_DELETE)/], ['gtid', /GTID(_TAGGED)?(_LOG)?_EVENT$/],
];
const kindOf = (name) => KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? '';

class List {
  /** `onChoose(index)` is called with the index of the event that a person chooses. */
  constructor(onChoose) {
    this.box = byId('list');
    this.rows = byId('rows');
    this.onChoose = onChoose;
    this.summaries = new Map();
    this.damage = new Map(); // why events are damaged
    this.box.addEventListener('scroll', () => this.draw());
    this.box.addEventListener('keydown', (event) => this.press(event));
    this.rows.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row) onChoose(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Show the events of a log; `indices` are those that match a search, null for all. */
  show(log, indices = null) {
    if (log !== this.log) this.summaries.clear();
    this.log = log;
    this.indices = indices;
    this.count = indices ? indices.length : log.frames.count;
    byId('spacer').style.height = `${Math.min(this.count * ROW_HEIGHT, TALLEST)}px`;
    this.draw();
  }

  indexAt(row) {
    return this.indices ? this.indices[row] : row;
  }

  /** The row of an event, or of the last one before it. */
  rowOf(index) {
    if (!this.indices) return index;
    const row = this.indices.findLastIndex((other) => other <= index);
    return Math.max(row, 0);
  }

  get visible() {
    return Math.max(1, Math.floor(this.box.clientHeight / ROW_HEIGHT));
  }

  get first() {
    const end = this.box.scrollHeight - this.box.clientHeight;
    const last = Math.max(0, this.count - this.visible);
    return end <= 0 ? 0 : Math.min(last, Math.round((this.box.scrollTop / end) * last));
  }

  choose(index) {
    this.chosen = index;
    const row = this.rowOf(index);
    const [first, last] = [this.first, Math.max(0, this.count - this.visible)];
    if (last > 0 && (row < first || row >= first + this.visible)) {
      const wanted = Math.min(last, Math.max(0, row < first ? row : row - this.visible + 1));
      this.box.scrollTop = (wanted / last) * (this.box.scrollHeight - this.box.clientHeight);
    }
    this.draw();
  }

  draw() {
    if (!this.log) return;
    const { frames } = this.log;
    const first = this.first;
    const end = Math.min(this.count, first + this.visible + 1);
    const drawn = [];
    for (let row = first; row < end; row++) {
      const index = this.indexAt(row);
      const name = typeName(frames.types[index]);
      const summary = element('span', { class: 'summary' });
      const time = frames.times[index];
      const box = element('div', {
        class: `row ${this.damage.has(index) ? 'damaged' : kindOf(name)}`, title: this.damage.get(index), role: 'option', id: `row-${index}`, 'data-index': index,
        'aria-selected': String(index === this.chosen), 'aria-setsize': this.count, 'aria-posinset': row + 1,
      },
        element('div', {}, element('span', { class: 'kind' }, name),
          this.damage.has(index) ? element('span', { class: 'bad' }, 'damaged') : '',
          element('span', { class: 'size' }, sizeText(frames.sizes[index]))),
        element('div', {}, element('span', { class: 'about' }, inThousands(frames.positions[index])),
          element('span', { class: 'about' }, time ? clock(time) : ''), summary,
          element('span', { class: 'index' }, `#${inThousands(index)}`)));
      box.style.top = `${(row - first) * ROW_HEIGHT}px`;
      this.summarize(index, summary);
      drawn.push(box);
    }
    this.rows.replaceChildren(...drawn);
    if (drawn.some(({ id }) => id === `row-${this.chosen}`)) {
      this.box.setAttribute('aria-activedescendant', `row-${this.chosen}`);
    } else {
      this.box.removeAttribute('aria-activedescendant');
    }
  }

  async summarize(index, target) {
    const { log, summaries } = this;
    if (!summaries.has(index)) {
      if (summaries.size > 10_000) summaries.clear();
      summaries.set(index, summaryOf(log, index).catch(() => ''));
    }
    const text = await summaries.get(index);
    target.textContent = text.slice(0, 300);
    target.title = text.slice(0, 2000);
  }

  press(event) {
    if (!this.log || !this.count || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.chosen === undefined ? -1 : this.rowOf(this.chosen);
    const moves = {
      ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + this.visible, PageUp: row - this.visible,
      Home: 0, End: this.count - 1,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.onChoose(this.indexAt(Math.min(this.count - 1, Math.max(0, moves[event.key]))));
  }
}
