// Tables that can be sorted and searched.
const RIGHT = new Set(['number', 'bytes', 'seconds', 'ratio']);
const SHARES = { tables: 'bytes', event_types: 'bytes', statements: 'events', sizes: 'transactions', servers: 'transactions' };
const FIRST_ROWS = 15;

function compare(left, right) {
  if (left === null || right === null) return (left === null) - (right === null);
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left).localeCompare(String(right), 'en', { numeric: true });
}

class SortedTable {
  constructor(part) {
    this.part = part;
    this.names = part.columns.map(([name]) => name);
    this.hidden = data.files.length === 1 ? this.names.indexOf('file') : -1;
    this.order = null;
    this.search = '';
    this.isWhole = false;
    const share = this.names.indexOf(SHARES[part.name]);
    this.share = share;
    this.most = share < 0 ? 0 : Math.max(1, ...part.rows.map((row) => row[share]));
    this.body = element('tbody');
    this.head = element('tr');
    this.foot = element('div', { class: 'foot' });
    this.count = element('span', { class: 'count' });
    const find = element('input', { type: 'search', placeholder: 'Find…', 'aria-label': 'Find in ' + part.title,
      oninput: (event) => { this.search = event.target.value.toLowerCase(); this.draw(); } });
    this.panel = element('section', { class: 'panel', id: 'part-' + part.name },
      element('div', { class: 'panel-head' }, element('h2', {}, part.title), this.count,
        part.rows.length > FIRST_ROWS ? find : null),
      element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': part.title }, element('table', {}, element('thead', {}, this.head), this.body)),
      this.foot);
    this.draw();
  }

  chosen() {
    let rows = this.part.rows;
    if (this.search) {
      rows = rows.filter((row) => row.some((value, index) =>
        written(value, this.part.columns[index][1]).toLowerCase().includes(this.search)));
    }
    if (this.order) {
      const { column, direction } = this.order;
      rows = [...rows].sort((left, right) => direction * compare(left[column], right[column]));
    }
    return rows;
  }

  sortBy(column) {
    const isRight = RIGHT.has(this.part.columns[column][1]);
    if (this.order && this.order.column === column) this.order.direction = -this.order.direction;
    else this.order = { column, direction: isRight ? -1 : 1 };
    this.draw();
  }

  draw() {
    this.head.replaceChildren(...this.part.columns.map((column, index) => this.heading(column, index))
      .filter((cell) => cell));
    const rows = this.chosen();
    const shown = this.isWhole ? rows : rows.slice(0, FIRST_ROWS);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    this.count.textContent = inThousands(rows.length) + (rows.length === 1 ? ' row' : ' rows');
    const notes = [];
    if (rows.length > shown.length) {
      notes.push(element('button', { type: 'button', onclick: () => { this.isWhole = true; this.draw(); } },
        'Show all ' + inThousands(rows.length)));
    }
    if (this.part.left_out) notes.push(inThousands(this.part.left_out) + ' more rows are not on this page');
    this.foot.hidden = !notes.length;
    this.foot.replaceChildren(...notes);
  }

  heading([name, kind], index) {
    if (index === this.hidden) return null;
    const isSorted = this.order && this.order.column === index;
    const direction = isSorted ? (this.order.direction > 0 ? 'ascending' : 'descending') : 'none';
    const arrow = isSorted ? (this.order.direction > 0 ? '▴' : '▾') : '';
    return element('th', { class: RIGHT.has(kind) ? 'right' : '', 'aria-sort': direction, scope: 'col' },
      element('button', { type: 'button', onclick: () => this.sortBy(index) }, name.replace('_', ' '),
        element('span', { class: 'arrow' }, arrow)));
  }

  row(row) {
    const key = this.keyOf(row);
    const opens = key !== null && key in data.transactions;
    const cells = row.map((value, index) => this.cell(value, index, opens ? key : null)).filter((cell) => cell);
    return element('tr', opens ? { class: 'opens', onclick: () => openTransaction(key) } : {}, cells);
  }

  keyOf(row) {
    const file = this.names.indexOf('file');
    const position = this.names.indexOf('position');
    return file < 0 || position < 0 ? null : row[file] + ':' + row[position];
  }

  cell(value, index, key) {
    if (index === this.hidden) return null;
    const [name, kind] = this.part.columns[index];
    const text = name === 'file' ? fileName(value) : written(value, kind);
    const attributes = { class: (RIGHT.has(kind) ? 'right ' : kind === 'time' ? 'time ' : '') + name };
    if (name === 'file') attributes.title = value;
    if (name === 'operation') return element('td', attributes, element('span', { class: 'op ' + value }, text));
    if (name === 'position' && key !== null) {
      return element('td', attributes, element('button', { type: 'button', class: 'open' }, text));
    }
    const cell = element('td', attributes, element('span', {}, name === 'file' ? broken(text) : text));
    if (index === this.share) {
      cell.classList.add('share');
      cell.style.setProperty('--share', (100 * value / this.most).toFixed(2) + '%');
    }
    return cell;
  }
}
