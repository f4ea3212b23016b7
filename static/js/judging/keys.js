/**
 * Keys of the page. Digits and A, N, B answer the question that has the focus; the rest are single letters, which can be
 * switched off (speech input types letters), and F keys, which cannot. The list is in the help dialog.
 */

import { byId } from "../editor/dom.js";

const LETTERS = "crowdrag-judging-letters";
/** @type {Record<string, number>} */
const VOTES = { a: -1, n: 0, b: 1 };

/** @typedef {import("./questions.js").Question} Question */

/**
 * @param {import("./items.js").Items} items
 * @param {{cycle: (by: number) => void}} parts
 * @param {(question: Question) => void} changed
 */
export function start(items, parts, changed) {
  const help = byId("help", HTMLDialogElement);
  const letters = byId("letters", HTMLInputElement);
  try {
    letters.checked = localStorage.getItem(LETTERS) !== "off";
  } catch {
    // Storage may be forbidden: then it holds until the page is left.
  }
  letters.addEventListener("change", () => {
    try {
      localStorage.setItem(LETTERS, letters.checked ? "on" : "off");
    } catch {
      // As above.
    }
  });

  /** @type {Record<string, (back: boolean) => void>} */
  const keys = {
    F2: () => help.showModal(),
    F6: (back) => parts.cycle(back ? -1 : 1),
    F8: () => items.open(),
    F9: (back) => items.move(back ? -1 : 1),
  };
  /** @type {Record<string, () => void>} */
  const singles = {
    "?": () => help.showModal(),
    j: () => items.move(1),
    k: () => items.move(-1),
    o: () => items.open(),
    r: () => parts.cycle(1),
  };

  /** @param {Question} question @param {string} key @returns {boolean} whether it was an answer */
  const answers = (question, key) => {
    const votes = question.options.every((option) => Math.abs(Number(option.value)) <= 1);
    const letter = votes && letters.checked && key in VOTES ? question.options.find((each) => Number(each.value) === VOTES[key]) : undefined;
    const option = letter ?? (/^[1-9]$/.test(key) ? question.options[Number(key) - 1] : undefined);
    if (!option) return false;
    option.checked = true;
    option.focus();
    changed(question);
    advance(question);
    return true;
  };

  /** To what is next to be answered here; to the button that goes on, where nothing is. @param {Question} question */
  const advance = (question) => {
    if (!question.isComplete) return question.focus();
    const asked = items.asked;
    const at = asked.indexOf(question);
    const next = [...asked.slice(at + 1), ...asked.slice(0, at)].find((each) => !each.isComplete);
    if (next) return next.focus();
    const on = items.shown.querySelector("button[data-moves='1']");
    if (on instanceof HTMLElement) on.focus();
  };

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.isComposing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const writes = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "radio");
    const question = items.questions.find((each) => target instanceof Node && each.element.contains(target));
    const single = key.toLowerCase();
    if (key in keys) keys[key](event.shiftKey);
    else if (writes) return;
    else if (question && !event.shiftKey && !question.element.disabled && answers(question, single)) event.preventDefault();
    else if (letters.checked && single in singles) singles[single]();
    else return;
    event.preventDefault();
  });
}
