/** Where a citation goes: pure functions on the text; what they return is one replacement, so that one undo takes it back. */

import { markers } from "./statements.js";

/**
 * @typedef {object} Edit
 * @property {number} start what is replaced, from
 * @property {number} end to
 * @property {string} text by what
 * @property {number} caret where the caret stands afterwards
 * @property {boolean} merged whether it went into a marker that was there
 */

// What may stand between a marker and the caret without anything new having been said.
const NOTHING_SAID = /^[.,;:!?\u2026"'\u201d\u2019\u00bb)]*[ \t]*$/u;
// A sentence's end right before the caret: the marker goes in front of it, as in "Leaves fall [3]."
const SENTENCE_END = /[\p{L}\p{N}"'\u201d\u2019\u00bb)%]([.!?\u2026\u3002\uff01\uff1f]+)$/u;
const LINE_BREAK = /[\n\r]/;

/**
 * The marker that the caret touches: in it, right behind it with nothing said since, or right before it.
 * @param {string} text
 * @param {number} caret
 * @param {number} passages
 */
function touched(text, caret, passages) {
  const found = markers(text, passages);
  const inside = found.find((marker) => marker.start < caret && caret <= marker.end);
  if (inside) return inside;
  const before = found.findLast((marker) => marker.end <= caret);
  if (before && NOTHING_SAID.test(text.slice(before.end, caret))) return before;
  const after = found.find((marker) => marker.start >= caret);
  if (after && /^[ \t]*$/.test(text.slice(caret, after.start))) return after;
  return undefined;
}

/**
 * Where citing a passage puts its number. With something selected, behind the selection.
 * @param {string} text
 * @param {number} caret the end of the selection
 * @param {number} rank
 * @param {number} passages
 * @returns {Edit | null} null if it is cited there already
 */
export function citing(text, caret, rank, passages) {
  const marker = touched(text, caret, passages);
  if (marker) {
    if (marker.cited.includes(rank)) return null;
    // Into its last bracket; nothing of what stands there is touched, so that undo and the log have it smallest.
    const inside = text.slice(marker.start, marker.end).replace(/[\s,;]*\]$/, "");
    const start = marker.start + inside.length;
    const inserted = `, ${rank}`;
    return { start, end: start, text: inserted, caret: Math.max(caret, marker.end) + inserted.length, merged: true };
  }
  // Behind a sentence's end, unless more of the same line follows directly.
  const line = text.slice(0, caret);
  const ended = SENTENCE_END.exec(line.slice(-200));
  const follows = text[caret];
  const start = ended && (follows === undefined || /\s/.test(follows)) ? caret - ended[1].length : caret;
  const left = text[start - 1];
  const before = left === undefined || /[\s([{\u201c\u00ab]/.test(left) || LINE_BREAK.test(left) ? "" : " ";
  const after = start === caret && follows !== undefined && /[\p{L}\p{N}]/u.test(follows) ? " " : "";
  const inserted = `${before}[${rank}]${after}`;
  return { start, end: start, text: inserted, caret: start + inserted.length + (caret - start), merged: false };
}

/** Words behind a bracket, by which passages are searched: a letter first, so that a number stays a number. */
const WORDS = /\[([ \t]*\p{L}[\p{L}\p{M}\p{N}' \u2019-]{0,39})$/u;

/**
 * The marker that is being typed at the caret: "[", "[1", "[3, ", or words to find a passage by: "[tide".
 * @param {string} text
 * @param {number} caret
 * @returns {{open: number, digits: string, cited: number[], words: string} | null}
 */
export function beingTyped(text, caret) {
  const match = /\[((?:[ \t]*\d+[ \t]*[,;])*)[ \t]*(\d*)$/.exec(text.slice(Math.max(0, caret - 120), caret));
  if (!match) {
    const words = WORDS.exec(text.slice(Math.max(0, caret - 60), caret));
    return words && { open: caret - words[0].length, digits: "", cited: [], words: words[1].trim() };
  }
  const digits = match[2];
  const cited = [...match[1].matchAll(/\d+/g)].map(([number]) => Number(number));
  return { open: caret - match[0].length, digits, cited, words: "" };
}

/**
 * Write the rest of a chosen number, in place of the words that it was found by, and close the bracket where it is open.
 * @param {string} text
 * @param {number} caret
 * @param {number} rank
 * @returns {Edit | null}
 */
export function completing(text, caret, rank) {
  const typed = beingTyped(text, caret);
  if (!typed || !String(rank).startsWith(typed.digits)) return null;
  const closed = /^[ \t]*(?:[,;\d]|\])/.test(text.slice(caret, caret + 20));
  const start = typed.words ? typed.open + 1 : caret;
  const inserted = `${String(rank).slice(typed.digits.length)}${closed ? "" : "]"}`;
  const beyond = closed && text[caret] === "]" ? 1 : 0;
  return { start, end: caret, text: inserted, caret: start + inserted.length + beyond, merged: typed.cited.length > 0 };
}
