// Search over all structures, and bytes and fields that highlight each other.
"use strict";

for (const sample of document.querySelectorAll(".sample")) {
  let pinned = null;
  const show = (field) => {
    for (const element of sample.querySelectorAll(".on")) element.classList.remove("on");
    if (field === null) return;
    for (const element of sample.querySelectorAll(`[data-field="${field}"]`)) element.classList.add("on");
  };
  const fieldOf = (event) => event.target.closest("[data-field]")?.dataset.field ?? null;
  sample.addEventListener("mouseover", (event) => show(fieldOf(event) ?? pinned));
  sample.addEventListener("mouseleave", () => show(pinned));
  sample.addEventListener("focusin", (event) => show(fieldOf(event) ?? pinned));
  sample.addEventListener("click", (event) => {
    const field = fieldOf(event);
    pinned = field === pinned ? null : field;
    show(pinned);
  });
}

const search = document.getElementById("search");
const results = document.getElementById("results");
const MOST = 40;
/** How much of a text is shown, in characters. */
const LONGEST = 140;

/** Whether a word is in a text, and neither the beginning nor the end of a longer one. */
function isWhole(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/\w/.test(text[at - 1] ?? "") && !/\w/.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}

/** Entries with all words: first whole names, then words of names, parts of names, and words of the text. */
function find(words) {
  const query = words.join(" ");
  const scored = [];
  for (const entry of words.length ? ENTRIES : []) {
    const name = entry[0].toLowerCase();
    const all = `${name} ${entry[1].toLowerCase()}`;
    if (!words.every((word) => all.includes(word))) continue;
    const ranks = [
      name === query, name.split(".").pop() === query, words.every((word) => isWhole(name, word)),
      words.every((word) => name.includes(word)), words.every((word) => isWhole(all, word)),
    ];
    scored.push([(ranks.indexOf(true) + ranks.length + 1) % (ranks.length + 1), name.length, entry]);
  }
  scored.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return scored.slice(0, MOST).map((one) => one[2]);
}

/** The part of a text around the first of the words, from the beginning of a word to the end of one. */
function snippet(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  let start = places.length ? Math.max(0, Math.min(text.length - LONGEST, Math.min(...places) - 40)) : 0;
  if (start > 0) start = text.indexOf(" ", start) + 1;
  let end = text.length - start > LONGEST ? text.lastIndexOf(" ", start + LONGEST) : text.length;
  if (end <= start) end = text.length;
  return `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
}

function showResults() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.replaceChildren();
  for (const [name, about, address, page] of find(words)) {
    const link = document.createElement("a");
    link.href = address;
    link.append(name);
    const small = document.createElement("small");
    small.textContent = `${page ? `${page} · ` : ""}${snippet(about, words)}`;
    link.append(small);
    const item = document.createElement("li");
    item.append(link);
    results.append(item);
  }
  results.hidden = !words.length;
  if (words.length && !results.children.length) results.textContent = " Nothing found.";
  results.querySelector("a")?.classList.add("first");
}

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  menu.setAttribute("aria-expanded", document.body.classList.toggle("open"));
});

search.addEventListener("input", showResults);
results.addEventListener("click", () => { results.hidden = true; });
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") results.querySelector("a")?.click();
  if (event.key === "Escape") { search.value = ""; showResults(); search.blur(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
