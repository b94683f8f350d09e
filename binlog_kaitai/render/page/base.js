// What all pages use: elements, numbers, and the choice between light and dark.
const byId = (id) => document.getElementById(id);
const inThousands = (value) => value.toLocaleString('en-US');

/** Colors of fields, `c0` and so on. */
const COLORS = 6;

/** An element; keys that begin with `on` are listeners. Text of a log becomes text nodes only, never markup. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value !== '' && value !== false && value !== null && value !== undefined) {
      node.setAttribute(key, value === true ? '' : value);
    }
  }
  node.append(...children.flat(2).filter((child) => child !== '' && child !== null)
    .map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

/** A name that may be broken after its underscores, dots and slashes. */
const broken = (name) => name.split(/(?<=[_./])/).flatMap((part, index) => (index ? [element('wbr'), part] : [part]));

byId('theme').addEventListener('click', () => {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  dataset.theme = isDark ? 'light' : 'dark';
});
