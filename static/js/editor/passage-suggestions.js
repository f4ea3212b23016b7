/**
 * Typing "[" offers the passages: digits filter, words search, arrows choose, Enter or Tab cites, Escape or any other text
 * lets it be.
 * The field keeps the focus (aria-activedescendant); whoever types "[3]" to its end notices nothing.
 */

import { beingTyped } from "./citation-edits.js";
import { byId, make } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { complete } from "./citation-insertion.js";
import { passageAtHand } from "./passages.js";
import { placeOf } from "./caret-position.js";
import { spans, terms } from "./passage-search.js";
import { announce, say } from "../ui/script-messages.js";

// So much of a passage is shown; the list's own box cuts it further.
const BEGINNING = 120;
// So much stands before a word that was searched.
const BEFORE = 24;

const box = byId("suggestions", HTMLElement);
const none = byId("suggestions-none", HTMLElement);
const frame = byId("suggestions-frame", HTMLElement);

/** @type {HTMLElement[]} */
let options = [];
let active = -1;
// Where the bracket is that Escape was pressed for: it is not offered again.
let dismissed = -1;
// How many were offered when it was last said.
let lastOffered = 0;

const isOpen = () => !frame.hidden;

function close() {
  if (!isOpen()) return;
  frame.hidden = true;
  options[active]?.setAttribute("aria-selected", "false");
  active = -1;
  editor.text.removeAttribute("aria-activedescendant");
  editor.text.removeAttribute("aria-controls");
}

/** @returns {HTMLElement[]} */
const offered = () => options.filter((option) => !option.hidden);

/** @param {number} rank */
function choose(rank) {
  options[active]?.setAttribute("aria-selected", "false");
  active = rank;
  const option = options[rank];
  if (!option) {
    editor.text.removeAttribute("aria-activedescendant");
    return;
  }
  option.setAttribute("aria-selected", "true");
  editor.text.setAttribute("aria-activedescendant", option.id);
  const [top, bottom] = [option.offsetTop, option.offsetTop + option.offsetHeight];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}

/** @param {number} open where the bracket stands */
function place(open) {
  const at = placeOf(editor.text, open);
  const room = editor.text.clientHeight - (at.top + at.height);
  const field = editor.text.getBoundingClientRect();
  const parent = frame.offsetParent?.getBoundingClientRect() ?? field;
  const left = Math.max(0, Math.min(at.left, field.width - frame.offsetWidth));
  const below = at.top + at.height + 4;
  // Below the line if there is room for it there, in the field or under it; else above.
  const fits = room > frame.offsetHeight || field.top + below + frame.offsetHeight < window.innerHeight - 8;
  const top = fits ? below : at.top - frame.offsetHeight - 4;
  frame.style.left = `${left + field.left - parent.left}px`;
  frame.style.top = `${Math.max(top, 8 - field.top) + field.top - parent.top}px`;
}

/** @param {number} rank @param {string} words that were searched: it is shown from the longest of them */
function excerpt(rank, words) {
  const place = options[rank].querySelector(".suggestion-text");
  if (!place) return;
  const passage = editor.passageText(rank);
  const [longest] = words.split(/\s+/).sort((one, two) => two.length - one.length);
  const hits = longest ? spans(passage, terms(longest)) : [];
  const [start, end] = hits[0] ?? [0, 0];
  const from = start > BEFORE ? start - BEFORE : 0;
  const before = `${from ? "\u2026" : ""}${passage.slice(from, start)}`;
  const word = hits.length ? [make("mark", { text: passage.slice(start, end) })] : [];
  place.replaceChildren(before, ...word, passage.slice(end, from + BEGINNING));
}

function update() {
  const { text } = editor;
  const typed = text.selectionStart === text.selectionEnd ? beingTyped(text.value, text.selectionEnd) : null;
  if (!typed || typed.open === dismissed) {
    if (!typed) dismissed = -1;
    close();
    return;
  }
  const { cited } = editor.reading();
  const wanted = terms(typed.words);
  for (const [rank, option] of options.entries()) {
    const isMissed = wanted.length > 0 && !spans(editor.passageText(rank), wanted).length;
    option.hidden = !String(rank).startsWith(typed.digits) || typed.cited.includes(rank) || isMissed;
    if (!option.hidden) excerpt(rank, typed.words);
    const times = cited.get(rank) ?? 0;
    const count = option.querySelector(".suggestion-cited");
    if (count) count.textContent = times ? say("cited", { n: times }) : "";
  }
  const found = offered();
  const opened = !isOpen();
  frame.hidden = false;
  box.hidden = found.length === 0;
  none.hidden = found.length > 0;
  const missing = typed.words ? say("none.words", { words: typed.words }) : say("none", { number: typed.digits, last: options.length - 1 });
  none.textContent = found.length ? "" : missing;
  text.setAttribute("aria-controls", box.id);
  const exact = typed.digits ? Number(typed.digits) : passageAtHand();
  const first = !typed.words && options[exact] && !options[exact].hidden ? exact : options.indexOf(found[0]);
  choose(found.length ? first : -1);
  place(typed.open);
  if (opened && found.length) announce(say("offered", { n: found.length }));
  else if (typed.words && found.length !== lastOffered) announce(found.length ? say("found", { n: found.length }) : missing);
  lastOffered = found.length;
}

/** @param {KeyboardEvent} event */
function keyed(event) {
  if (!isOpen() || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  const found = offered();
  const here = found.indexOf(options[active]);
  if (event.key === "Escape") {
    dismissed = beingTyped(editor.text.value, editor.text.selectionEnd)?.open ?? -1;
    close();
  } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && options[active]) {
    const rank = active;
    close();
    complete(rank);
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length && !event.shiftKey) {
    const next = (here + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
    choose(options.indexOf(found[next]));
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

export function start() {
  options = editor.passages.map((_, rank) =>
    make(
      "div",
      { class: "suggestion", attributes: { role: "option", id: `suggestion-${rank}`, "aria-selected": "false", "data-number": String(rank) } },
      make("span", { class: "suggestion-rank", text: String(rank) }),
      make("span", { class: "suggestion-text", text: editor.passageText(rank).slice(0, BEGINNING), attributes: { dir: "auto", lang: editor.text.lang } }),
      make("span", { class: "suggestion-cited" }),
    ),
  );
  box.append(...options);
  if (!options.length) return;
  editor.text.addEventListener("input", (event) => {
    // Only what is typed offers the list; what is pasted, undone or put in by the page does not.
    const kind = event instanceof InputEvent ? event.inputType : "";
    if (isOpen() || kind === "insertText" || kind === "insertCompositionText") update();
  });
  editor.text.addEventListener("keydown", keyed);
  editor.text.addEventListener("blur", close);
  editor.text.addEventListener("scroll", close, { passive: true });
  document.addEventListener("selectionchange", () => {
    if (isOpen() && !beingTyped(editor.text.value, editor.text.selectionEnd)) close();
  });
  // The field keeps the focus, and a phone its keyboard.
  frame.addEventListener("pointerdown", (event) => event.preventDefault());
  box.addEventListener("click", (event) => {
    const option = event.target instanceof Element ? event.target.closest("[data-number]") : null;
    if (!(option instanceof HTMLElement)) return;
    close();
    complete(Number(option.dataset.number));
  });
}
