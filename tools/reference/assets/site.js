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

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const scored = [];
  for (const entry of ENTRIES) {
    const name = entry[0].toLowerCase();
    const all = `${name} ${entry[1].toLowerCase()}`;
    if (!words.every((word) => all.includes(word))) continue;
    const last = name.split(".").pop();
    const rank = words.some((word) => last === word) ? 0 : words.every((word) => name.includes(word)) ? 1 : 2;
    scored.push([rank, name.length, entry]);
  }
  scored.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return scored.slice(0, MOST).map((one) => one[2]);
}

function showResults() {
  results.replaceChildren();
  for (const [name, about, address] of find(search.value)) {
    const link = document.createElement("a");
    link.href = address;
    link.append(name);
    const small = document.createElement("small");
    small.textContent = about;
    link.append(small);
    const item = document.createElement("li");
    item.append(link);
    results.append(item);
  }
  results.hidden = !search.value.trim();
  if (!results.hidden && !results.children.length) results.textContent = " Nothing found.";
  results.querySelector("a")?.classList.add("first");
}

search.addEventListener("input", showResults);
results.addEventListener("click", () => { results.hidden = true; });
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") results.querySelector("a")?.click();
  if (event.key === "Escape") { search.value = ""; showResults(); search.blur(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
