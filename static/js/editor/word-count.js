/** How many words there are, beside how many are asked for; counted as the server counts them. */

import { byId, debounced } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { announce, say } from "../ui/script-messages.js";
import { countWords } from "./statements.js";

// "About 250": within a fifth of it.
const ABOUT = 0.2;

// Said aloud when the writer has paused for so long.
const SETTLED = 1_500;

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

/** @param {import("./shared-state.js").Reading} reading */
function tell({ value }) {
  const { n, length } = lengthOf(value);
  place.textContent = say(`words.${length}`, { n, target, over: n - target });
  place.dataset.length = length;
  bar.value = Math.min(n, target);
  bar.dataset.length = length;
  settled();
}

// Said once when it becomes so, and not again before the text was shorter.
let isLong = false;
const settled = debounced(() => {
  if (place.dataset.length === "long" && !isLong) announce(place.textContent ?? "");
  isLong = place.dataset.length === "long";
}, SETTLED);

export function start() {
  editor.watch(tell);
}
