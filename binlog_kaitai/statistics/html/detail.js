// A transaction: its events, and each event's bytes beside the fields that they are.
const BYTES_A_LINE = 16;

function openTransaction(key, table) {
  const transaction = data.transactions[key];
  const cut = key.lastIndexOf(':');
  byId('detail-title').textContent = 'Transaction at ' + inThousands(Number(key.slice(cut + 1)));
  const size = transaction.events.length + transaction.left_out;
  byId('detail-about').textContent = key.slice(0, cut) + ' · ' + inThousands(size) + (size === 1 ? ' event' : ' events');
  const items = transaction.events.map((event, index) => element('li', { class: event.index === null ? '' : 'inner' },
    element('button', { type: 'button', onclick: () => openEvent(transaction, index) },
      element('span', { class: 'type' }, event.type),
      element('span', { class: 'about' }, event.index === null
        ? inThousands(event.position) + ' · ' + bytes(event.size)
        : 'inside, ' + inThousands(event.index) + ' · ' + bytes(event.size)))));
  if (transaction.left_out) {
    items.push(element('li', { class: 'foot' }, inThousands(transaction.left_out) + ' more events are not on this page'));
  }
  if (table !== undefined) {
    items.unshift(element('li', {}, element('button', { type: 'button', class: 'back', onclick: () => openTable(table) },
      '\u2190 ' + table)));
  }
  byId('detail-events').replaceChildren(...items);
  if (transaction.events.length) openEvent(transaction, 0);
  else byId('detail-event').replaceChildren(element('p', {}, 'Its events could not be read.'));
  if (!byId('detail').open) byId('detail').showModal();
}

function openEvent(transaction, index) {
  const event = transaction.events[index];
  byId('detail-events').querySelectorAll('button:not(.back)').forEach((button, number) =>
    button.setAttribute('aria-current', String(number === index)));
  const about = [event.index === null ? 'at ' + inThousands(event.position) : 'inside the event at ' + inThousands(event.position),
    inThousands(event.size) + ' bytes', event.time ? time(event.time) + ' ' + data.zone : 'no time', 'server ' + event.server,
    'checksum ' + event.checksum];
  const parts = [element('h2', {}, event.type), element('p', { class: 'files' }, about.join(' · '))];
  if (event.hex) parts.push(hexDump(event));
  if (event.leaves) parts.push(leafTable(event));
  else {
    const place = event.index === null ? '' : ', which contains it';
    parts.push(element('p', { class: 'note' }, (event.hex ? 'This event is too large to be decoded here.' :
      'The bytes of this event are not on this page.') +
      ' To see it in full: binlog-kaitai explain --at ' + event.position + place));
  }
  byId('detail-event').replaceChildren(...parts);
  byId('detail-event').scrollTop = 0;
}

function light(box, leaf) {
  for (const lit of box.querySelectorAll('.lit')) lit.classList.remove('lit');
  if (leaf === null) return;
  for (const found of box.querySelectorAll('[data-leaf="' + leaf + '"]')) found.classList.add('lit');
}

function listenForLeaves(box) {
  const leafOf = (event) => { const found = event.target.closest('[data-leaf]'); return found ? found.dataset.leaf : null; };
  box.addEventListener('pointerover', (event) => light(byId('detail-event'), leafOf(event)));
  box.addEventListener('pointerleave', () => light(byId('detail-event'), null));
  box.addEventListener('click', (event) => {
    const leaf = leafOf(event);
    const row = leaf === null ? null : byId('detail-event').querySelector('tr[data-leaf="' + leaf + '"]');
    if (row) row.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  });
}

function hexDump(event) {
  const count = event.hex.length / 2;
  const leafAt = new Array(count).fill(null);
  (event.leaves || []).forEach(([offset, size], index) => {
    if (typeof offset === 'string') return;
    for (let at = offset; at < offset + size && at < count; at += 1) leafAt[at] = index;
  });
  const start = event.index === null ? event.position : 0;
  const box = element('div', { class: 'hex', tabindex: 0, role: 'region', 'aria-label': 'Bytes' });
  for (let line = 0; line < count; line += BYTES_A_LINE) {
    box.append(element('span', { class: 'at' }, String(start + line).padStart(10) + '  '));
    let chars = '';
    for (let at = line; at < line + BYTES_A_LINE; at += 1) {
      const gap = at % 8 === 7 ? '  ' : ' ';
      if (at >= count) { box.append('  ' + gap); continue; }
      const byte = event.hex.slice(2 * at, 2 * at + 2);
      const code = parseInt(byte, 16);
      chars += code >= 32 && code < 127 ? String.fromCharCode(code) : '·';
      const leaf = leafAt[at];
      box.append(leaf === null ? byte : element('span', { 'data-leaf': leaf, class: 'c' + leaf % COLORS }, byte), gap);
    }
    box.append(element('span', { class: 'chars' }, chars), '\n');
  }
  if (count < event.size) box.append('… ' + inThousands(event.size - count) + ' more bytes\n');
  listenForLeaves(box);
  return box;
}

function leafTable(event) {
  const start = event.index === null ? event.position : 0;
  const rows = event.leaves.map(([offset, size, path, value, meaning], index) => {
    const isDerived = typeof offset === 'string';
    return element('tr', { 'data-leaf': index },
      element('td', { class: 'right' }, isDerived ? offset : start + offset),
      element('td', { class: 'right' }, isDerived ? '' : size),
      element('td', { class: 'mono field' }, element('span', { class: 'swatch' + (isDerived ? '' : ' c' + index % COLORS) }),
        broken(data.texts[path])),
      element('td', { class: 'mono value' }, value),
      element('td', { class: 'meaning' }, data.texts[meaning]));
  });
  const head = element('tr', {}, ['offset', 'size', 'field', 'value', 'meaning'].map((name, index) =>
    element('th', { class: index < 2 ? 'right' : '', scope: 'col' }, name)));
  const table = element('table', { class: 'leaves' }, element('thead', {}, head), element('tbody', {}, rows));
  listenForLeaves(table);
  return table;
}
