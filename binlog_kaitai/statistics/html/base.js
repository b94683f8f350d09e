// What the other scripts use: the data, and how values are written.
const data = JSON.parse(document.getElementById('data').textContent);
const partOf = Object.fromEntries(data.parts.map((part) => [part.name, part]));

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function bytes(count) {
  let unit = 0;
  while (count >= 1000 && unit < UNITS.length - 1) { count /= 1024; unit += 1; }
  return (unit ? Number(count.toPrecision(3)) : count) + ' ' + UNITS[unit];
}

function seconds(value) {
  if (value < 1) return value ? Number((value * 1000).toPrecision(3)) + ' ms' : '0 s';
  if (value < 60) return Number(value.toPrecision(3)) + ' s';
  for (const [size, unit, below, small] of [[86400, 'd', 3600, 'h'], [3600, 'h', 60, 'min'], [60, 'min', 1, 's']]) {
    if (value >= size) {
      const rest = Math.floor((value % size) / below);
      return Math.floor(value / size) + ' ' + unit + (rest ? ' ' + rest + ' ' + small : '');
    }
  }
  return value + ' s';
}

// Times are in data.zone: seconds since 1970 on its clocks.
function time(value) {
  return new Date(value * 1000).toISOString().replace('T', ' ').slice(0, 19);
}

// Short names of files, as long as they tell the files apart.
const shortName = (file) => file.split('/').pop();
const areNamesDistinct = new Set(data.files.map(shortName)).size === data.files.length;
const fileName = (file) => (areNamesDistinct ? shortName(file) : file);

const WRITERS = {
  number: inThousands,
  bytes: bytes,
  seconds: seconds,
  time: time,
  list: (values) => values.join(', '),
  sizes: (values) => values.map(bytes).join(', '),
  text: String,
  ratio: String,
};

function written(value, kind) {
  return value === null || value === undefined ? '' : WRITERS[kind](value);
}
