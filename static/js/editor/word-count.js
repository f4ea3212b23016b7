/** How many words there are, beside how many are asked for; counted as the server counts them. */

import { byId } from "../ui/dom.js";
import { editor } from "./editor-page.js";
import { say } from "../ui/script-messages.js";
import { countWords } from "./statements.js";

// "About 250": within a fifth of it.
const ABOUT = 0.2;

/** @typedef {"empty" | "short" | "right" | "long"} Length */

const place = byId("words", HTMLElement);
const bar = byId("words-bar", HTMLProgressElement);
const target = Number(place.dataset.target);

/** @param {string} text @returns {{n: number, target: number, length: Length}} */
export function lengthOf(text) {
  const n = countWords(text);
  if (n === 0) return { n, target, length: "empty" };
  if (n < target * (1 - ABOUT)) return { n, target, length: "short" };
  return { n, target, length: n > target * (1 + ABOUT) ? "long" : "right" };
}

/** @param {import("./editor-page.js").Reading} reading */
function tell({ value }) {
  const { n, length } = lengthOf(value);
  place.textContent = say(`words.${length}`, { n, target });
  place.dataset.length = length;
  bar.value = Math.min(n, target);
}

export function start() {
  editor.watch(tell);
}
