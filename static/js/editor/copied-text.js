/** What a text has word for word from its passages: pure. So long a run of words is no chance, and longer than a fitting quotation. */

import { tokens } from "./log/paste-sources.js";

const RUN = 20;

/** @typedef {Map<string, number>} Index every run of words of the passages, with the rank of the first that has it */

/** @param {{word: string}[]} all @param {number} at @returns {string} */
const run = (all, at) => all.slice(at, at + RUN).map(({ word }) => word).join(" ");

/** @param {string[]} passages @returns {Index} */
export function index(passages) {
  /** @type {Index} */
  const ranks = new Map();
  passages.forEach((passage, rank) => {
    const all = tokens(passage);
    for (let at = 0; at + RUN <= all.length; at += 1) if (!ranks.has(run(all, at))) ranks.set(run(all, at), rank);
  });
  return ranks;
}

/** @param {string} text @param {Index} ranks @returns {{start: number, end: number, rank: number}[]} each run as long as it goes */
export function copies(text, ranks) {
  if (!ranks.size) return [];
  const all = tokens(text);
  /** @type {{start: number, end: number, rank: number}[]} */
  const found = [];
  for (let at = 0; at + RUN <= all.length; at += 1) {
    const rank = ranks.get(run(all, at));
    if (rank === undefined) continue;
    const [{ start }, { end }] = [all[at], all[at + RUN - 1]];
    const last = found.at(-1);
    if (last && last.end > start) last.end = end;
    else found.push({ start, end, rank });
  }
  return found;
}
