// The page put together.
const capital = (text) => text[0].toUpperCase() + text.slice(1).replace('tid ', 'TID ');

function card(label, value, more, isWide) {
  return element('div', { class: isWide ? 'card wide' : 'card' }, element('div', { class: 'label' }, label),
    element('div', { class: 'value' }, value), element('div', { class: 'more' }, more || ''));
}

function drawTotals() {
  const totals = data.totals;
  const cards = [
    card('Transactions', number(totals.transactions), number(totals.definitions) + ' definitions (DDL)'),
    card('Events', number(totals.events), totals.inner_events ? number(totals.inner_events) + ' in compressed transactions' : ''),
    card('Size', bytes(totals.bytes), number(totals.files) + (totals.files === 1 ? ' file' : ' files')),
    card('Rows inserted', number(totals.rows_inserted)),
    card('Rows updated', number(totals.rows_updated)),
    card('Rows deleted', number(totals.rows_deleted), 'in ' + number(totals.tables) + (totals.tables === 1 ? ' table' : ' tables')),
  ];
  if (totals.first_time !== null) {
    cards.push(card('Time (' + data.zone + ')', seconds(data.span),
      time(totals.first_time) + ' – ' + time(totals.last_time), true));
  }
  if (totals.packed_bytes) {
    cards.push(card('Compression', totals.compression_ratio.toFixed(1) + ' : 1',
      bytes(totals.unpacked_bytes) + ' to ' + bytes(totals.packed_bytes)));
  }
  byId('totals').append(...cards);
}

function setTheme(theme) { document.documentElement.dataset.theme = theme; }

setTheme(window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
byId('theme').addEventListener('click', () =>
  setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
const FEW = 3;
byId('files').append(data.files.slice(0, FEW).join(', '));
if (data.files.length > FEW) {
  byId('files').append(element('details', {}, element('summary', {}, 'and ' + number(data.files.length - FEW) + ' more files'),
    data.files.slice(FEW).join(', ')));
}
byId('notes').append(...data.notes.map((note) => element('p', { class: 'note' }, note)));
drawTotals();
byId('zone').append(data.zone);
if (partOf.timeline.rows.length) new Timeline(partOf.timeline);
else byId('part-timeline').hidden = true;
drawBars();
for (const part of data.parts) {
  if (!part.rows.length) continue;
  byId('nav').append(element('a', { href: '#part-' + part.name }, capital(part.name.replaceAll('_', ' '))));
  if (part.name !== 'timeline') byId('parts').append(new SortedTable(part).panel);
}
byId('detail-close').addEventListener('click', () => byId('detail').close());
byId('detail').addEventListener('click', (event) => { if (event.target === byId('detail')) byId('detail').close(); });
