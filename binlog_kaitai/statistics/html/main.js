// The page put together.
const capital = (text) => text[0].toUpperCase() + text.slice(1).replace('tid ', 'TID ');

function card(label, value, more, isWide) {
  return element('div', { class: isWide ? 'card wide' : 'card' }, element('div', { class: 'label' }, label),
    element('div', { class: 'value' }, value), element('div', { class: 'more' }, more || ''));
}

function drawTotals() {
  const totals = data.totals;
  const cards = [
    card('Transactions', inThousands(totals.transactions), inThousands(totals.definitions) + ' definitions (DDL)'),
    card('Events', inThousands(totals.events), totals.inner_events ? inThousands(totals.inner_events) + ' in compressed transactions' : ''),
    card('Size', bytes(totals.bytes), inThousands(totals.files) + (totals.files === 1 ? ' file' : ' files')),
    card('Rows inserted', inThousands(totals.rows_inserted)),
    card('Rows updated', inThousands(totals.rows_updated)),
    card('Rows deleted', inThousands(totals.rows_deleted), 'in ' + inThousands(totals.tables) + (totals.tables === 1 ? ' table' : ' tables')),
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

// What the page says, in a sentence or two.
function summary() {
  const { totals } = data;
  const counted = (count, name) => inThousands(count) + ' ' + name + (count === 1 ? '' : 's');
  const when = totals.first_time === null ? '' : data.span ? ' in ' + seconds(data.span) : ' within a second';
  const rows = totals.rows_inserted + totals.rows_updated + totals.rows_deleted;
  const changes = rows ? 'inserted ' + counted(totals.rows_inserted, 'row') + ', updated ' + inThousands(totals.rows_updated) +
    ' and deleted ' + inThousands(totals.rows_deleted) + ' in ' + counted(totals.tables, 'table') : 'changed no rows that the log contains';
  const sentences = [counted(totals.transactions, 'transaction') + when + ' ' + changes + '.'];
  const tables = byTable(partOf.tables);
  if (tables.length > 1 && !partOf.tables.left_out) {
    const sum = tables.reduce((total, one) => total + one.total, 0);
    sentences.push(tables[0].name + ' has ' + Math.round(100 * tables[0].total / sum) + ' % of the bytes in rows events.');
  }
  return sentences.join(' ');
}

const FEW = 3;
byId('files').append(data.files.slice(0, FEW).join(', '));
if (data.files.length > FEW) {
  byId('files').append(element('details', {}, element('summary', {}, 'and ' + inThousands(data.files.length - FEW) + ' more files'),
    data.files.slice(FEW).join(', ')));
}
byId('summary').append(summary());
byId('error').append(data.error ?? '');
byId('error').hidden = !data.error;
byId('footnotes').append(...data.notes.map((note) => element('p', {}, note)));
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
