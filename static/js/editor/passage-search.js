/** Searching the passages as one types: every word must be in a passage; "in quotes" as it stands there. */

import { byId, debounced } from "../ui/dom.js";
import { editor, rankOf } from "./shared-state.js";
import { bring, setAtHand, setOpen, visit } from "./passages.js";
import { show } from "./panes.js";
import { say } from "../ui/script-messages.js";

// More hits than this nobody looks through one by one, and marking them would take long.
const MOST = 500;
// Said to the log when the words have not changed for so long.
const SETTLED = 1_000;

const input = byId("search", HTMLInputElement);
const figure = byId("search-figure", HTMLElement);
const only = byId("search-only", HTMLInputElement);
const [back, forth] = [byId("search-previous", HTMLButtonElement), byId("search-next", HTMLButtonElement)];

/** @type {string[]} */
let texts = [];
/** @type {HTMLElement[]} */
let hits = [];
let current = -1;
let searched = "";

/** @param {string} typed @returns {RegExp[]} one for each word or quoted phrase */
export function terms(typed) {
  return [...typed.matchAll(/"([^"]+)"?|[^\s"]+/g)].map(([word, phrase]) => {
    const escaped = (phrase ?? word).trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+");
    return new RegExp(escaped, "giu");
  });
}

/** @param {string} text @param {RegExp[]} wanted @returns {[number, number][]} where the words are, without overlaps */
export function spans(text, wanted) {
  /** @type {[number, number][]} */
  const all = [];
  for (const term of wanted) {
    const before = all.length;
    for (const match of text.matchAll(term)) {
      if (match[0]) all.push([match.index, match.index + match[0].length]);
      if (all.length - before >= MOST) break;
    }
    if (all.length === before) return [];
  }
  all.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let last = 0;
  return all.filter(([start, end]) => {
    if (start < last) return false;
    last = end;
    return true;
  });
}

/** @param {HTMLElement} place @param {string} text @param {[number, number][]} found */
function mark(place, text, found) {
  /** @type {(Node | string)[]} */
  const pieces = [];
  let from = 0;
  for (const [start, end] of found) {
    const hit = document.createElement("mark");
    hit.textContent = text.slice(start, end);
    pieces.push(text.slice(from, start), hit);
    hits.push(hit);
    from = end;
  }
  place.replaceChildren(...pieces, text.slice(from));
}

function tell() {
  const n = hits.length;
  const most = n >= MOST ? `${MOST}+` : String(n);
  if (!searched) figure.textContent = "";
  else if (!n) figure.textContent = say("hits.none");
  else figure.textContent = current < 0 ? say("hits", { n, most }) : say("hit", { i: current + 1, most });
  for (const button of [back, forth]) button.disabled = n === 0;
}

function search() {
  const typed = input.value.trim();
  if (typed === searched) return;
  searched = typed;
  const wanted = terms(typed);
  [hits, current] = [[], -1];
  editor.passages.forEach((passage, rank) => {
    const place = passage.querySelector(".passage-text");
    if (!(place instanceof HTMLElement)) return;
    const found = wanted.length && hits.length < MOST ? spans(texts[rank], wanted).slice(0, MOST - hits.length) : [];
    if (found.length || place.firstElementChild) mark(place, texts[rank], found);
    passage.classList.toggle("is-missed", wanted.length > 0 && found.length === 0);
  });
  hide();
  tell();
  if (hits.length) bringHit(0, false);
}

function hide() {
  editor.list.classList.toggle("only-found", only.checked && searched !== "");
  for (const passage of editor.passages) passage.hidden = only.checked && passage.classList.contains("is-missed");
}

/** @param {number} number @param {boolean} chosen whether the writer went there */
function bringHit(number, chosen) {
  const hit = hits[number];
  const passage = hit?.closest("li[data-rank]");
  if (!hit || !(passage instanceof HTMLElement)) return;
  if (chosen) {
    hits[current]?.classList.remove("is-current");
    current = number;
    hit.classList.add("is-current");
    setAtHand(rankOf(passage));
    const text = passage.querySelector(".passage-text");
    if (text && hit.getBoundingClientRect().bottom > text.getBoundingClientRect().bottom) setOpen(rankOf(passage), true);
  }
  bring(rankOf(passage), hit);
}

/** @param {number} by 1: the next hit, -1: the one before */
export function step(by) {
  later.flush();
  if (!hits.length) return;
  show("passages");
  const start = current < 0 ? (by > 0 ? 0 : hits.length - 1) : current + by;
  bringHit((start + hits.length) % hits.length, true);
  tell();
}

export function focusSearch() {
  show("passages");
  input.focus();
  input.select();
}

const later = debounced(search, 120);

export function start() {
  texts = editor.passages.map((_, rank) => editor.passageText(rank));
  const settled = debounced(() => {
    if (searched) editor.record("q", searched.slice(0, 200), hits.length);
  }, SETTLED);
  input.addEventListener("input", () => {
    later();
    settled();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      const first = editor.passages.find((passage) => !passage.hidden && !passage.classList.contains("is-missed"));
      if (first) visit(current < 0 ? rankOf(first) : Number(hits[current].closest("li")?.dataset.rank));
    } else if (event.key === "Escape" && input.value) {
      event.preventDefault();
      event.stopPropagation();
      input.value = "";
      search();
    }
  });
  only.addEventListener("change", hide);
  back.addEventListener("click", () => step(-1));
  forth.addEventListener("click", () => step(1));
  tell();
}
