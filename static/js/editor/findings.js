/** The list of what is worth a look, kept up to date quietly; each entry leads to its place in the text. */

import { check } from "./citation-checks.js";
import { markShared } from "./citation-marks.js";
import { PassageIndex } from "./copied-text.js";
import { byId, debounced, make } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { show } from "./panes.js";
import { scrollTo } from "./caret-position.js";
import { announce, say } from "../ui/script-messages.js";

// After the last key; longer than it takes to type the next letter.
const QUIET = 600;
const SHOWN = 50;
const QUOTED = 70;

const list = byId("findings", HTMLElement);
const nothing = byId("findings-none", HTMLElement);
const figure = byId("findings-count", HTMLElement);

/** @type {import("./citation-checks.js").Finding[]} */
let findings = [];
let drawn = "";
// The study's rule: so many words in a row are said to be a passage's. 0: none are.
const limit = Number(editor.text.dataset.copiedWords);
/** @type {PassageIndex | null} */
let sources = null;
let copied = 0;

/** @param {import("./citation-checks.js").Finding} finding @returns {string} */
export function wording(finding) {
  const { kind, about, cited, rank = 0, words = 0 } = finding;
  return say(`finding.${kind}`, { marker: cited ?? about, last: editor.passages.length - 1, rank, n: words, limit });
}

/** @param {string} text @returns {string} */
const quoted = (text) => (text.length > QUOTED ? `${text.slice(0, QUOTED).trimEnd()}\u2026` : text);

/** @param {import("./citation-checks.js").Finding} finding @returns {string} the words that it is about, where they are not said already */
export function about(finding) {
  return finding.wrong && finding.kind !== "unclosed" ? "" : quoted(finding.about);
}

/** @param {import("./citation-checks.js").Finding} finding go to its place in the text */
export function goTo(finding) {
  show("text");
  editor.text.focus({ preventScroll: true });
  const at = finding.kind === "missing" || finding.kind === "empty" ? finding.start + 1 : finding.end;
  editor.text.setSelectionRange(at, at);
  scrollTo(editor.text, at);
  announce(wording(finding));
}

/** @param {import("./citation-checks.js").Finding} finding @param {number} number */
function entry(finding, number) {
  const words = about(finding);
  const quote = words ? [" ", make("q", { class: "finding-about", text: words, attributes: { dir: "auto", lang: editor.text.lang } })] : [];
  const button = make(
    "button",
    { class: "finding-go", attributes: { type: "button", "data-number": String(number) } },
    make("span", { class: `finding-kind${finding.wrong ? " is-wrong" : ""}` }, make("span", { text: say(finding.wrong ? "wrong" : "look") })),
    make("span", { class: "finding-words" }, wording(finding), ...quote),
    make("span", { class: "finding-to", text: say("go") }),
  );
  return make("li", {}, button);
}

function draw() {
  const key = JSON.stringify([editor.text.value ? 1 : 0, findings.map(({ kind, about, cited }) => [kind, about, cited])]);
  if (key === drawn) return;
  drawn = key;
  list.replaceChildren(...findings.slice(0, SHOWN).map(entry));
  nothing.hidden = findings.length > 0;
  nothing.textContent = say(editor.text.value.trim() ? "findings.none" : "findings.empty");
  figure.textContent = String(findings.length);
  figure.classList.toggle("is-none", findings.length === 0);
}

function look() {
  findings = check(editor.text.value, editor.passages.length, document.activeElement === editor.text ? editor.text.selectionEnd : -1, sources);
  draw();
  // A passage that was just pasted is worth a word at once; other findings wait until somebody looks.
  const all = findings.filter(({ kind }) => kind === "copied");
  markShared(all);
  if (all.length > copied) announce(wording(all[0]));
  copied = all.length;
}

/** @returns {import("./citation-checks.js").Finding[]} of the text as it is now, wherever the caret is */
export const whole = () => check(editor.text.value, editor.passages.length, -1, sources);

/** @param {number} by 1: the next from the caret on, -1: the one before; around the end */
export function step(by) {
  look();
  if (!findings.length) {
    announce(say("findings.none"));
    return;
  }
  const caret = editor.text.selectionEnd;
  const ahead = findings.find((each) => each.start > caret);
  const behind = findings.findLast((each) => each.end < caret);
  goTo((by > 0 ? ahead : behind) ?? findings.at(by > 0 ? 0 : -1) ?? findings[0]);
}

/** Read the passages one after the other, each when nothing else is to be done. @param {(act: () => void) => unknown} idle */
function readPassages(idle) {
  const index = new PassageIndex(limit);
  const next = () => {
    const rank = index.passages.length;
    if (rank < editor.passages.length) {
      index.add(editor.passageText(rank));
      idle(next);
      return;
    }
    sources = index;
    if (editor.text.value) look();
  };
  idle(next);
}

export function start() {
  const idle = window.requestIdleCallback ?? ((/** @type {() => void} */ act) => setTimeout(act));
  if (limit) readPassages(idle);
  const later = debounced(() => idle(look), QUIET);
  editor.watch(later);
  editor.text.addEventListener("blur", later);
  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-number]") : null;
    if (button instanceof HTMLElement) goTo(findings[Number(button.dataset.number)]);
  });
  draw();
}
