// Bars by table, one color for each operation; a click on one opens the transactions that changed it most.
const MOST_BARS = 12;
const OPERATIONS = ['insert', 'update', 'delete'];

function byTable(part) {
  const [schema, table, operation, size] = ['schema', 'table', 'operation', 'bytes']
    .map((name) => part.columns.findIndex((column) => column[0] === name));
  const found = new Map();
  for (const row of part.rows) {
    const name = row[schema] + '.' + row[table];
    if (!found.has(name)) found.set(name, { name, sizes: { insert: 0, update: 0, delete: 0 }, total: 0 });
    found.get(name).sizes[row[operation]] += row[size];
    found.get(name).total += row[size];
  }
  return [...found.values()].sort((one, other) => other.total - one.total);
}

function drawBars() {
  const tables = byTable(partOf.tables);
  const most = Math.max(1, ...tables.map((one) => one.total));
  const bars = tables.slice(0, MOST_BARS).map((one) => {
    const used = OPERATIONS.filter((operation) => one.sizes[operation]);
    const parts = used.map((operation) => {
      const part = element('span', { class: 'part ' + operation });
      part.style.width = (100 * one.sizes[operation] / most).toFixed(2) + '%';
      return part;
    });
    const about = used.map((operation) => operation + ' ' + bytes(one.sizes[operation])).join(', ');
    return element('li', {}, element('button', { type: 'button', title: about, onclick: () => openTable(one.name) },
      element('span', { class: 'name' }, one.name), element('span', { class: 'track' }, parts),
      element('span', { class: 'amount' }, bytes(one.total))));
  });
  byId('bars').replaceChildren(...bars);
  byId('bars-legend').replaceChildren(...OPERATIONS.map((operation) =>
    element('span', {}, element('span', { class: 'swatch ' + operation }), operation)));
  byId('bars-count').textContent = tables.length > MOST_BARS
    ? MOST_BARS + ' of ' + inThousands(tables.length) + ' tables' : '';
  byId('part-bars').hidden = !bars.length;
}

// The transactions of a table, in the place of the events of one.
function openTable(name) {
  const part = partOf.by_table;
  const names = part.columns.map((column) => column[0]);
  const rows = part.rows.filter((row) => row[0] === name).map((row) =>
    Object.fromEntries(row.map((value, index) => [names[index], value])));
  byId('detail-title').textContent = name;
  byId('detail-about').textContent = rows.length ? 'Its biggest transactions, by bytes in rows events' : 'Its transactions are not on this page.';
  byId('detail-events').replaceChildren(...rows.map((row) => {
    const key = row.file + ':' + row.position;
    const about = [data.files.length > 1 ? fileName(row.file) : '', inThousands(row.position), row.time === null ? '' : time(row.time),
      row.thread_id === null ? '' : 'connection ' + row.thread_id].filter((text) => text).join(' · ');
    return element('li', {}, element('button', { type: 'button', disabled: !(key in data.transactions),
      onclick: () => openTransaction(key, name) },
      element('span', { class: 'type' }, bytes(row.table_bytes) + ' of ' + bytes(row.bytes)),
      element('span', { class: 'about' }, about)));
  }));
  byId('detail-event').replaceChildren(element('p', { class: 'files' }, 'Click a transaction to show its events.'));
  if (!byId('detail').open) byId('detail').showModal();
}
