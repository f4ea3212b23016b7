/**
 * What is copied, and where what is pasted comes from: a passage, the writer's own text, or elsewhere. Of the clipboard's
 * content nothing is recorded beyond what then stands in the text.
 */

import { share, words } from "./paste-sources.js";
import { points } from "./text.js";

const OWN_TEXT = -1;
const ELSEWHERE = -2;
/** Half of a text must stand somewhere to say that it is from there, in percent. */
const HALF = 50;

/**
 * @typedef {{place: number, start: number, end: number, text: string}} Copied
 */

/** @param {Node | null} node @returns {HTMLElement | null} the passage that a node lies in */
function passageOf(node) {
  const element = node instanceof Element ? node : (node?.parentElement ?? null);
  return element?.closest("[data-rank]") instanceof HTMLElement ? element.closest("[data-rank]") : null;
}

/** @param {HTMLElement} passage @returns {Element} where its text is */
const textOf = (passage) => passage.querySelector("[data-passage-text]") ?? passage;

/** @param {HTMLTextAreaElement} field @returns {Copied} what is selected now */
export function selected(field) {
  if (document.activeElement === field) {
    const { selectionStart, selectionEnd, value } = field;
    const [start, end] = [points(value, selectionStart), points(value, selectionEnd)];
    return { place: OWN_TEXT, start, end, text: value.slice(selectionStart, selectionEnd) };
  }
  const selection = document.getSelection();
  const text = selection?.toString() ?? "";
  const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
  const passage = range ? passageOf(range.commonAncestorContainer) : null;
  if (!range || !passage) return { place: ELSEWHERE, start: 0, end: points(text), text };
  const before = document.createRange();
  before.selectNodeContents(textOf(passage));
  // A selection may begin in the passage's heading, before its text.
  const start = before.comparePoint(range.startContainer, range.startOffset) < 0 ? 0 : upTo(before, range.startContainer, range.startOffset);
  const end = Math.max(start, upTo(before, range.endContainer, range.endOffset));
  return { place: Number(passage.dataset.rank), start, end, text };
}

/** @param {Range} whole @param {Node} node @param {number} offset @returns {number} code points before a point */
function upTo(whole, node, offset) {
  const part = whole.cloneRange();
  const side = whole.comparePoint(node, offset);
  if (side < 0) return 0;
  if (side === 0) part.setEnd(node, offset);
  return points(part.toString());
}

export class Clipboard {
  /**
   * @param {HTMLTextAreaElement} field
   * @param {import("./recorder.js").Record} record
   * @param {() => string} text the writer's text as recorded
   */
  constructor(field, record, text) {
    this.field = field;
    this.record = record;
    this.text = text;
    /** @type {{place: number, words: string} | null} */
    this.copied = null;
  }

  /** @param {AbortSignal} signal */
  start(signal) {
    document.addEventListener("copy", () => this.took(0), { signal });
    document.addEventListener("cut", () => this.took(1), { signal });
    this.field.addEventListener("paste", (event) => this.put(event.clipboardData), { signal });
    this.field.addEventListener("drop", (event) => this.put(event.dataTransfer), { signal });
  }

  /** @param {number} cut */
  took(cut) {
    const { place, start, end, text } = selected(this.field);
    if (!text) return;
    this.copied = { place, words: words(text).join(" ") };
    this.record("y", place, start, end, cut);
  }

  /** @param {DataTransfer | null} data */
  put(data) {
    const text = (data?.getData("text/plain") ?? "").replace(/\r\n?/g, "\n");
    if (!text) return;
    const { place, percent } = this.origin(text);
    this.record("p", place, points(text), percent);
  }

  /** @param {string} text @returns {{place: number, percent: number}} */
  origin(text) {
    const pasted = words(text);
    const { copied } = this;
    if (copied && copied.place !== ELSEWHERE && copied.words === pasted.join(" ")) return { place: copied.place, percent: 100 };
    let best = { place: ELSEWHERE, percent: 0 };
    for (const passage of document.querySelectorAll("[data-rank]")) {
      if (!(passage instanceof HTMLElement)) continue;
      const percent = share(pasted, words(textOf(passage).textContent ?? ""));
      if (percent > best.percent) best = { place: Number(passage.dataset.rank), percent };
    }
    const own = share(pasted, words(this.text()));
    if (own > best.percent) best = { place: OWN_TEXT, percent: own };
    return best.percent < HALF ? { place: ELSEWHERE, percent: best.percent } : best;
  }
}
