// The page: opening a log, searching in it, and the address that names an event.

const cut = (value, length = 200) => (value.length > length ? `${value.slice(0, length)}…` : value);

/** Text of the grammar, in which names are between backticks. */
const marked = (text) => text.split('`').map((part, index) => (index % 2 ? element('code', {}, part) : part));

function sizeText(bytes) {
  if (bytes < 10_000) return `${inThousands(bytes)} B`;
  let unit = 0;
  while (bytes >= 1000 && unit < 4) { bytes /= 1024; unit += 1; }
  return `${Number(bytes.toPrecision(3))} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

const GTID_TYPES = ['GTID_LOG_EVENT', 'ANONYMOUS_GTID_LOG_EVENT', 'GTID_TAGGED_LOG_EVENT', 'GTID_EVENT']
  .map((name) => EVENT_TYPES[name]);

/** Events between two looks at the clock while searching, and how long to search until the page may draw. */
const SEARCHED_AT_ONCE = 256;
const LONGEST_BLOCKING = 30;

/** Indices up to a count; now and then the page may draw, or `onProgress(done)` returns false to give up. */
async function* inTurns(count, onProgress) {
  let drawn = performance.now();
  for (let index = 0; index < count; index++) {
    yield index;
    if (index % SEARCHED_AT_ONCE === 0 && performance.now() - drawn > LONGEST_BLOCKING) {
      if (!onProgress(index / count)) return;
      await new Promise((resolve) => { setTimeout(resolve); });
      drawn = performance.now();
    }
  }
}

/**
 * Indices of the events that a text is in: of whole transactions by GTID, of table maps and rows by table, of
 * other events by what the list says of them. `onProgress(matches, done)` returns false to give up.
 */
async function search(log, text, onProgress) {
  const wanted = text.toLowerCase();
  const { frames } = log;
  const matches = [];
  let isInTransaction = false;
  let tables = new Set();
  for await (const index of inTurns(frames.count, (done) => onProgress(matches, done))) {
    const type = frames.types[index];
    const isGtid = GTID_TYPES.includes(type);
    if (isGtid) isInTransaction = false;
    if (isStatementStart[type]) tables = new Set();
    let isMatch = isInTransaction;
    if (hasRows[type]) {
      if (!isMatch && tables.size) {
        const id = log.entry(await log.raw(index, LEN_START), log.formatOf(index), null).upcomingTableId.value;
        isMatch = tables.has(String(id));
      }
    } else if (!isMatch) {
      isMatch = (await searchedText(log, index)).toLowerCase().includes(wanted);
      if (isMatch && isGtid) isInTransaction = true;
      if (isMatch && type === EVENT_TYPES.TABLE_MAP_EVENT) tables.add(String((await log.tableMapAt(index)).tableId.value));
    }
    if (isMatch) matches.push(index);
  }
  return matches;
}

/** What the list says of an event, and of the table maps and statements inside a payload. */
async function searchedText(log, index) {
  const summary = await summaryOf(log, index).catch(() => '');
  if (!log.hasPayload(index)) return summary;
  const inner = await log.payload(index).catch(() => null);
  const texts = [summary];
  for (let number = 0; inner && number < inner.frames.count; number++) {
    if (!hasRows[inner.frames.types[number]]) texts.push(await summaryOf(inner, number).catch(() => ''));
  }
  return texts.join('\n');
}

const page = { log: null, opening: null, filtering: null, damage: new Map() };
const list = new List((index) => choose(index));
const detail = new Detail((number) => choose(list.chosen, number));

/** Open a log; a file that is none is refused with a sentence. */
async function open(bytes) {
  byId('problem').textContent = '';
  byId('progress').hidden = false;
  const turn = (page.opening = Symbol('opening'));
  const bar = byId('progress').firstElementChild;
  let log;
  try {
    log = await Log.open(bytes, (done) => { bar.value = done; });
  } catch (problem) {
    if (turn !== page.opening) return;
    for (const id of ['events', 'detail', 'search']) byId(id).hidden = true;
    byId('start').hidden = false;
    byId('problem').textContent = `${bytes.name}: ${problem instanceof LogError ? problem.message : problem}`;
    byId('progress').hidden = true;
    byId('name').textContent = '';
    page.log = null;
    return;
  }
  if (turn !== page.opening) return; // another log has been dropped
  byId('progress').hidden = true;
  page.log = log;
  const version = log.formats[0]?.content.serverVersion;
  byId('name').textContent = [bytes.name, bytes.isWhole ? sizeText(bytes.size) : '', version].filter(Boolean).join(' · ');
  document.title = `${bytes.name} · Binary log viewer`;
  byId('start').hidden = true;
  for (const id of ['events', 'detail', 'search']) byId(id).hidden = false;
  byId('notice').textContent = [
    log.problem?.text,
    log.isInUse && !log.problem ? 'The log is in use, or its server did not close it.' : '',
    log.frames.count ? '' : 'The log has no events.',
    bytes.isWhole ? '' : 'This page has a part of the log.',
  ].filter(Boolean).join(' ');
  byId('notice').hidden = !byId('notice').textContent;
  listTypes(log);
  byId('query').value = '';
  byId('damaged').hidden = true;
  byId('checked').textContent = '0 % checked';
  detail.clear();
  await filter();
  await followAddress();
  byId('list').focus();
  checkAll(log);
}

/** Look for damage in all events, while the page is used. */
async function checkAll(log) {
  const damage = (page.damage = list.damage = new Map());
  const say = (text) => { byId('checked').textContent = text; };
  const turns = inTurns(log.frames.count, (done) => {
    if (log === page.log) say(`${Math.round(100 * done)} % checked`);
    return log === page.log;
  });
  await findDamage(log, turns, (index, reason) => {
    damage.set(index, damage.has(index) ? `${damage.get(index)}; ${reason}` : reason);
    list.draw();
  });
  if (log !== page.log) return;
  say(damage.size || log.problem ? '' : 'no damage');
  byId('damaged').hidden = !damage.size;
  byId('damaged').textContent = `${inThousands(damage.size)} damaged`;
  if (damage.size) byId('type').append(element('option', { value: 'damaged' }, `Damaged (${inThousands(damage.size)})`));
}

function listTypes({ frames }) {
  const counts = new Map();
  for (let index = 0; index < frames.count; index++) {
    counts.set(frames.types[index], (counts.get(frames.types[index]) ?? 0) + 1);
  }
  const options = [...counts].map(([type, count]) => [typeName(type), type, count]).sort();
  byId('type').replaceChildren(element('option', { value: 'all' }, 'All types'), ...options.map(([name, type, count]) =>
    element('option', { value: type }, `${name} (${inThousands(count)})`)));
}

/** Show the events that the search box and the choice of a type leave. */
async function filter() {
  const turn = (page.filtering = Symbol('filtering'));
  const { log } = page;
  const text = byId('query').value.trim();
  const type = byId('type').value;
  const { frames } = log;
  const isOfType = (index) => (type === 'damaged' ? page.damage.has(index) : type === 'all' || frames.types[index] === Number(type));
  let indices = null;
  if (text && !/^[\d,]+$/.test(text)) {
    indices = await search(log, text, (matches, done) => {
      byId('count').textContent = `${inThousands(matches.length)} found, ${Math.round(100 * done)} % searched`;
      return turn === page.filtering;
    });
    if (turn !== page.filtering) return;
    indices = indices.filter(isOfType);
  } else if (type !== 'all') {
    indices = Array.from({ length: frames.count }, (_, index) => index).filter(isOfType);
  }
  list.show(log, indices);
  byId('none').hidden = !indices || indices.length > 0;
  byId('none-text').textContent = type === 'all' ? `No event has “${cut(text, 80)}” in its GTID, table or statement.`
    : `No event of this type has “${cut(text, 80)}” in its GTID, table or statement.`;
  const count = inThousands(frames.count);
  byId('count').textContent = indices ? `${inThousands(indices.length)} of ${count} events` : `${count} events`;
}

/** Show an event, or one inside its payload, and put it into the address. */
async function choose(index, inside = null) {
  const { log } = page;
  if (index === undefined || index < 0 || index >= log.frames.count) return;
  list.choose(index);
  const inner = inside === null ? null : await log.payload(index).catch(() => null);
  const isInside = inner !== null && Number.isInteger(inside) && inside >= 0 && inside < inner.frames.count;
  const address = `#position=${log.frames.positions[index]}${isInside ? `&inside=${inside}` : ''}`;
  if (location.hash.split('&field=')[0] !== address) history.replaceState(null, '', address);
  if (isInside) await detail.show(inner, inside, true);
  else await detail.show(log, index);
}

async function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const index = Math.max(0, page.log.frames.at(Number(wanted.get('position'))));
  await choose(index, wanted.has('inside') ? Number(wanted.get('inside')) : null);
  if (wanted.has('field')) detail.pointAt(wanted.get('field'));
}

/** Go to the event at a position, or around it. */
function goTo(position) {
  const index = page.log.frames.at(position);
  if (index < 0) return;
  if (list.indices && !list.indices.includes(index)) {
    byId('type').value = 'all';
    list.show(page.log);
  }
  choose(index);
}

for (const [id, type] of [['damaged', 'damaged'], ['all', 'all']]) {
  byId(id).addEventListener('click', async () => {
    byId('query').value = '';
    byId('type').value = type;
    await filter();
    if (type === 'damaged') await choose(list.indexAt(0));
    byId('list').focus();
  });
}

let timer;
byId('query').addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(filter, 250); });
byId('type').addEventListener('change', filter);
byId('search').addEventListener('submit', async (event) => {
  event.preventDefault();
  clearTimeout(timer);
  const text = byId('query').value.trim();
  if (/^[\d,]+$/.test(text)) {
    goTo(Number(text.replaceAll(',', '')));
  } else {
    await filter();
    if (list.count) choose(list.indexAt(0));
  }
  byId('list').focus();
});

for (const id of ['choose', 'choose-too']) byId(id).addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', () => { if (byId('file').files[0]) open(Bytes.ofFile(byId('file').files[0])); });
addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('over'); });
addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.body.classList.remove('over'); });
addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('over');
  if (event.dataTransfer.files[0]) open(Bytes.ofFile(event.dataTransfer.files[0]));
});
addEventListener('hashchange', () => { if (page.log) followAddress(); });
addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.target.matches('input, select') && page.log) {
    event.preventDefault();
    byId('query').focus();
  } else if (event.key === 'Escape' && event.target.id === 'query') {
    byId('query').value = '';
    filter();
    byId('list').focus();
  }
});

// For the console: `viewer.log`, its events, and what the page reads from them.
globalThis.viewer = {
  get log() { return page.log; },
  get damage() { return page.damage; },
  open, choose, Bytes, leavesOf, rowsOf, summaryOf, typeName, isChecksumRight,
};

function openEmbedded(id) {
  const excerpt = JSON.parse(byId(id).textContent);
  if (excerpt.position !== null && !location.hash) history.replaceState(null, '', `#position=${excerpt.position}`);
  return open(Bytes.ofParts(excerpt));
}

byId('try').hidden = !byId('sample');
byId('try-sample').addEventListener('click', () => openEmbedded('sample'));
if (byId('log')) openEmbedded('log');
