/**
 * Styled citations, drawn behind the text field: a copy of the text that nobody can select, find or hear. Only what is
 * marked in it is visible, and the field itself stays as it is. A line of the text is a block of its own, so that typing
 * lays out one line again. Fonts, padding and breaks are the field's (editor.css).
 */

import { byId, make } from "../ui/dom.js";
import { changedLines, keptSpans, pieces, spansByLine } from "./marked-text.js";
import { editor } from "./shared-state.js";

// A longer text is not marked: to lay it out twice would slow typing down.
const LONGEST = 60_000;

const box = byId("citation-marks", HTMLElement);

/** @type {string[]} */
let lines = [];
/** @type {import("./marked-text.js").Span[][]} */
let shared = [];
let due = false;

/** @param {number} number */
function block(number) {
  const nodes = pieces(lines[number], editor.passages.length, shared[number]).map(({ text, kind }) =>
    kind ? make("span", { class: kind, text }) : document.createTextNode(text),
  );
  // The line break gives an empty line its height, and no height to any other.
  return make("div", {}, ...nodes, "\n");
}

/** @param {number} start @param {number} removed @param {number} added put lines of the text in place of lines that are drawn */
function redraw(start, removed, added) {
  const old = [...box.children].slice(start, start + removed);
  const before = box.children[start + removed] ?? null;
  for (const each of old) each.remove();
  const made = document.createDocumentFragment();
  for (let number = start; number < start + added; number += 1) made.append(block(number));
  box.insertBefore(made, before);
}

function draw() {
  due = false;
  const { text } = editor;
  const after = text.value.length > LONGEST ? [] : text.value.split("\n");
  const { start, removed, added } = changedLines(lines, after);
  if (removed || added) {
    const kept = removed === 1 && added === 1 ? keptSpans(lines[start], after[start], shared[start]) : [];
    lines = after;
    shared.splice(start, removed, ...Array.from({ length: added }, () => kept));
    redraw(start, removed, added);
  }
  // The field's own direction is found from its text.
  box.style.direction = getComputedStyle(text).direction;
  follow();
}

function follow() {
  box.scrollTop = editor.text.scrollTop;
}

/** @param {DOMRectReadOnly} content the field's box without padding and scroll bar, to fractions of a pixel */
function fit(content) {
  const { text } = editor;
  Object.assign(box.style, {
    left: `${text.offsetLeft + text.clientLeft}px`,
    top: `${text.offsetTop + text.clientTop}px`,
    width: `${content.width}px`,
    height: `${content.height}px`,
  });
  follow();
}

function soon() {
  if (due) return;
  due = true;
  // In the frame that shows the letter, so that no mark stays behind when a line breaks.
  requestAnimationFrame(draw);
}

/** @param {{start: number, end: number}[]} ranges of the text as it is, in order: what is also in a passage */
export function markShared(ranges) {
  draw();
  const spans = spansByLine(lines, ranges);
  for (const [number, found] of spans.entries()) {
    if (JSON.stringify(found) === JSON.stringify(shared[number])) continue;
    shared[number] = found;
    redraw(number, 1, 1);
  }
  follow();
}

export function start() {
  editor.watch(soon);
  editor.text.addEventListener("input", soon);
  editor.text.addEventListener("scroll", follow, { passive: true });
  new ResizeObserver(([entry]) => fit(entry.contentRect)).observe(editor.text);
  soon();
}
