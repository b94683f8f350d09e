// One event: what it is, its rows, and its bytes beside its fields.

/** What is shown at first of an event: bytes, rows. A button shows more. */
const BYTES_SHOWN = 4096;
const ROWS_SHOWN = 100;

class Detail {
  /** `onInside(number)` is called with the number of an event inside a payload, or null for the payload. */
  constructor(onInside) {
    this.box = byId('event');
    this.onInside = onInside;
    this.box.addEventListener('pointerover', (event) => this.point(event.target));
    this.box.addEventListener('focusin', (event) => this.point(event.target));
    this.box.addEventListener('keydown', (event) => this.press(event));
  }

  /** Show an event of a log, or of a payload. */
  async show(log, index, isInside = false) {
    const turn = (this.turn = Symbol('turn'));
    const event = await log.event(index);
    if (turn !== this.turn) return;
    const name = typeName(log.frames.types[index]);
    const root = event.entry.event;
    const content = root?.body?.content;
    const parts = [element('h2', {}, name), this.facts(log, event, isInside)];
    if (isStructure(content)) parts.push(element('p', { class: 'about-type' }, marked(documented(content).doc)));
    if (event.error) {
      parts.push(element('p', { class: 'failure' }, `The event cannot be read in full: ${event.error}. ` +
        'Bytes after this point are shown as unread.'));
    }
    const statement = content && (attempt(() => content.queryText) || content.message);
    if (statement) parts.push(element('h3', {}, 'Statement'), element('pre', { class: 'statement', tabindex: 0 }, statement));
    if (hasRows[log.frames.types[index]]) parts.push(...this.rows(log, event));
    if (log.hasPayload(index) && !isInside) parts.push(await this.inside(log, index));
    if (turn !== this.turn) return;
    parts.push(element('h3', {}, 'Bytes'));
    this.leaves = root ? leavesOf(root, event.data) : [];
    this.start = log.frames.positions[index];
    this.event = event;
    this.columns = event.tableMap ? columnsOf(event.tableMap, log.isMariadb) : [];
    this.bytes = element('div', {});
    parts.push(this.bytes);
    const derived = derivedOf(root);
    if (derived.length) parts.push(element('h3', {}, 'Derived values'), this.derived(derived));
    this.box.replaceChildren(...parts);
    this.box.scrollTop = 0;
    this.showBytes(event.data, BYTES_SHOWN);
    this.explain(null);
  }

  clear() {
    this.box.replaceChildren();
    byId('field').replaceChildren();
  }

  facts(log, event, isInside) {
    const { frames } = log;
    const index = event.index;
    const right = isChecksumRight(event);
    const serverId = event.entry.event?.header?.serverId;
    const fact = (label, value, mark = '') => element('span', {}, `${label} `, element('b', { class: mark }, value));
    return element('div', { class: 'facts' },
      isInside ? [element('button', { type: 'button', onclick: () => this.onInside(null) }, '← the payload'),
        fact('inside, number', inThousands(index))]
        : [fact('position', inThousands(frames.positions[index])),
          fact('to', inThousands(frames.positions[index] + frames.sizes[index]))],
      fact('', sizeText(frames.sizes[index])),
      frames.times[index] ? fact('', `${clock(frames.times[index])} UTC`) : [],
      serverId === undefined ? [] : fact('server', String(serverId)),
      right === null ? [] : fact('checksum', right ? 'ok' : 'wrong', right ? '' : 'bad'));
  }

  rows(log, event) {
    if (!event.tableMap) return [element('p', { class: 'failure' }, 'No table map before this event describes its rows.')];
    let content;
    try {
      content = rowsOf(event, log.isMariadb, ROWS_SHOWN);
    } catch (problem) {
      return [element('p', { class: 'failure' }, `The rows cannot be read: ${reasonOf(problem)}.`)];
    }
    if (!content) return [];
    const { columns, count, rows } = content;
    const title = `${inThousands(count)} row${count === 1 ? '' : 's'} of ${tableName(event.tableMap)}`;
    const body = element('tbody', {});
    this.addRows(body, rows);
    const head = element('tr', {}, element('th', { scope: 'col' }, element('span', { class: 'unseen' }, 'image')),
      columns.map((column) => element('th', { scope: 'col', title: typeOfColumn(column) }, broken(column.name))));
    const table = element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title },
      element('table', {}, element('thead', {}, head), body));
    const parts = [element('h3', {}, title), table];
    const remark = remarkOnNames(columns, log);
    if (remark) parts.push(element('p', { class: 'remark' }, marked(remark)));
    if (count > rows.length) {
      parts.push(element('button', { type: 'button', class: 'more', onclick: (click) => {
        body.replaceChildren();
        this.addRows(body, rowsOf(event, log.isMariadb).rows);
        click.target.remove();
      } }, `Show all ${inThousands(count)} rows`));
    }
    return parts;
  }

  addRows(body, rows) {
    for (const { before, after } of rows) {
      const cells = (image, other) => image.map((value, index) => {
        const isChanged = other && value.kind !== 'absent' && other[index].text !== value.text;
        return element('td', { class: `value ${value.kind}${isChanged ? ' changed' : ''}` },
          element('div', {}, value.kind === 'bytes' ? `0x${value.text}` : value.text));
      });
      const label = (name, text) => element('td', { class: `which ${name}` }, text);
      if (before && after) {
        body.append(element('tr', {}, label('before', 'before'), cells(before, after)),
          element('tr', {}, label('after', 'after'), cells(after, before)));
      } else if (before || after) {
        body.append(element('tr', {}, label(before ? 'delete' : 'insert', before ? 'deleted' : 'inserted'),
          cells(before ?? after, null)));
      }
    }
  }

  async inside(log, index) {
    let inner;
    try {
      inner = await log.payload(index);
    } catch (problem) {
      return element('p', { class: 'failure' }, problem.message);
    }
    const items = [];
    for (let number = 0; number < inner.frames.count; number++) {
      items.push(element('li', {}, element('button', { type: 'button', onclick: () => this.onInside(number) },
        element('span', { class: 'index' }, number), element('b', {}, typeName(inner.frames.types[number])),
        element('span', {}, await summaryOf(inner, number)))));
    }
    return element('div', {}, element('h3', {}, `${inThousands(items.length)} events inside`),
      element('ol', { class: 'inside' }, items),
      inner.problem ? element('p', { class: 'failure' }, inner.problem.text) : []);
  }

  derived(values) {
    return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Computed values' },
      element('table', { class: 'fields' }, element('tbody', {}, values.map((value) =>
        element('tr', { title: value.meaning }, element('td', { class: 'path' }, broken(value.path)),
          element('td', {}, shown(value)))))));
  }

  showBytes(data, limit) {
    const width = this.box.clientWidth < 560 ? 8 : 16;
    const end = Math.min(data.length, limit);
    const leaves = this.leaves.filter((leaf) => leaf.offset < end);
    const box = element('div', { class: `hex${width === 8 ? ' narrow' : ''}`, tabindex: 0, role: 'region', 'aria-label': 'Hex' });
    const digits = String(this.start + end).length;
    let current = 0;
    for (let line = 0; line < end; line += width) {
      const codes = element('span', { class: 'codes' });
      const characters = element('span', { class: 'characters' });
      for (let offset = line; offset < Math.min(line + width, end);) {
        while (current < leaves.length - 1 && leaves[current].offset + leaves[current].size <= offset) current += 1;
        const leaf = leaves[current];
        const stop = Math.min(line + width, end, leaf ? leaf.offset + leaf.size : end);
        const run = data.subarray(offset, stop);
        const attributes = { class: `c${current % COLORS}`, 'data-leaf': current };
        codes.append(element('span', attributes, hex(run)), stop < Math.min(line + width, end) ? ' ' : '');
        characters.append(element('span', attributes, printable(run)));
        offset = stop;
      }
      box.append(element('div', { class: 'line' },
        element('span', { class: 'offset' }, String(this.start + line).padStart(digits)), codes, characters));
    }
    const fields = element('div', { class: 'scroll fields' }, element('table', {},
      element('thead', {}, element('tr', {}, ['offset', 'size', 'field', 'value'].map((name) =>
        element('th', { scope: 'col' }, name)))),
      element('tbody', {}, leaves.map((leaf, number) => element('tr', { 'data-leaf': number, tabindex: number ? -1 : 0 },
        element('td', { class: 'number' }, inThousands(this.start + leaf.offset)),
        element('td', { class: 'number' }, inThousands(leaf.size)),
        element('td', { class: 'path' }, element('span', { class: `swatch c${number % COLORS}` }), broken(leaf.path)),
        element('td', {}, cut(leafText(leaf))))))));
    const parts = [element('div', { class: 'bytes' }, box, fields)];
    if (end < data.length) {
      parts.push(element('button', { type: 'button', class: 'more', onclick: () => this.showBytes(data, limit * 16) },
        `Show more of ${inThousands(data.length)} bytes`));
    }
    this.bytes.replaceChildren(...parts);
  }

  point(target) {
    const place = target.closest?.('[data-leaf]');
    if (!place) return;
    const number = Number(place.dataset.leaf);
    for (const lit of this.box.querySelectorAll('.on')) lit.classList.remove('on');
    for (const part of this.box.querySelectorAll(`[data-leaf="${number}"]`)) part.classList.add('on');
    this.explain(this.leaves[number]);
  }

  pointAt(path) {
    const number = this.leaves.findIndex((leaf) => leaf.path === path);
    const row = this.box.querySelector(`.fields [data-leaf="${number}"]`);
    if (row) this.point(row);
  }

  press(event) {
    const row = event.target.closest('.fields tr[data-leaf]');
    const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  /** The column and the value that a field of a row image belongs to. */
  cellOf(path) {
    const [, row, image, index] = /\.rows\[(\d+)\]\.(before|after)\.cells\[(\d+)\]/.exec(path) ?? [];
    const cell = index && attempt(() => this.event.entry.event.body.content.rows[row][image].cells[index]);
    return cell && { name: this.columns[index].name, text: attempt(() => valueOf(cell, this.columns[index]).text) ?? '' };
  }

  /** Say what a field means, below the event. */
  explain(leaf) {
    const box = byId('field');
    if (!leaf) {
      box.replaceChildren(element('p', { class: 'place' }, 'Point at a byte or a field to see what it means.'));
      return;
    }
    const { path, offset, size, meaning, original } = leaf;
    const end = offset + size;
    const cell = this.cellOf(path);
    box.replaceChildren(
      element('p', {}, cell ? element('b', {}, `${cell.name} = ${cut(cell.text)} `) : '',
        element('span', { class: 'path' }, path),
        element('span', { class: 'place' }, ` ${size} byte${size === 1 ? '' : 's'} at ${inThousands(this.start + offset)}` +
          `, ${inThousands(offset)} to ${inThousands(end)} of the event${original ? ` · the server's ${original}` : ''}`)),
      element('p', { class: 'value' }, cut(leafText(leaf), 4000)),
      element('p', {}, marked(meaning || '')),
      (leaf.parts ?? []).map((part) => element('p', {}, element('span', { class: 'path' }, part.path.split('.').at(-1)),
        ` ${shown(part)} · ${part.meaning} (${part.bits} bit${part.bits === 1 ? '' : 's'})`)));
  }
}

function leafText(leaf) {
  if (leaf.parts) return leaf.parts.map((part) => `${part.path.split('.').at(-1)} ${shown(part)}`).join(', ');
  return shown(leaf);
}

/** Where the names of columns are from, if the log does not have them, or why there are none. */
function remarkOnNames(columns, log) {
  if (columns.every(({ column }) => column.hasName)) return '';
  if (columns.every(({ isNamed }) => isNamed)) {
    return 'The log does not name these columns; the names are those of the table’s definition.';
  }
  return 'The log does not name these columns: `binlog_row_metadata` was not `FULL`, or the server is older. ' +
    (log.definitionsFrom ? 'No definition in the log, or given with `--ddl`, fits them.'
      : 'This page does not follow statements; `binlog-kaitai explain --html` takes names from CREATE and ALTER TABLE.');
}

function typeOfColumn({ typeName, column }) {
  if (typeName) return typeName;
  const name = memberOf('ColumnTypes.ColumnType', column.realType) ?? `type ${column.realType}`;
  return `${name}${column.isUnsigned ? ' unsigned' : ''}${column.isNullable ? '' : ', not null'}`;
}

const printable = (data) =>
  Array.from(data, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join('');
