/** A line of text in pieces: which of them are citations, and which stand in a passage too. Pure. */

import { emptyBrackets, markers } from "./statements.js";

/** @typedef {{text: string, kind: string}} Piece `kind`: class names, or "" for plain text */
/** @typedef {[number, number]} Span start and end in a line */

/**
 * Cut a line at its citations and at the spans that are also in a passage.
 * @param {string} line
 * @param {number} passages how many there are to cite
 * @param {Span[]} [shared] in order, without overlaps
 * @returns {Piece[]} which give the line again if they are joined
 */
export function pieces(line, passages, shared = []) {
  const citations = line.includes("[") ? markers(line, passages) : [];
  const cuts = new Set([0, line.length]);
  const empty = line.includes("[") ? emptyBrackets(line) : [];
  for (const { start, end } of [...citations, ...empty]) cuts.add(start).add(end);
  for (const [start, end] of shared) cuts.add(start).add(end);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((from, number) => {
    const to = places[number + 1];
    const citation = citations.find(({ start, end }) => start <= from && to <= end);
    const kinds = [
      citation && (citation.outside ? "mark-unknown" : "mark-citation"),
      empty.some(({ start, end }) => start <= from && to <= end) && "mark-unknown",
      shared.some(([start, end]) => start <= from && to <= end) && "mark-shared",
    ];
    return { text: line.slice(from, to), kind: kinds.filter(Boolean).join(" ") };
  });
}

/**
 * Find which lines changed: those between the equal ones at the beginning and the equal ones at the end.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {{start: number, removed: number, added: number}}
 */
export function changedLines(before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { start, removed: before.length - start - end, added: after.length - start - end };
}

/**
 * Keep the spans of a line that stand before its change, so that they do not flicker while somebody types behind them.
 * @param {string} before
 * @param {string} after
 * @param {Span[]} shared
 * @returns {Span[]}
 */
export function keptSpans(before, after, shared) {
  let common = 0;
  while (common < before.length && before[common] === after[common]) common += 1;
  return shared.filter(([, end]) => end <= common);
}

/**
 * Give each line its part of the ranges of a whole text.
 * @param {string[]} lines
 * @param {{start: number, end: number}[]} ranges in order, without overlaps
 * @returns {Span[][]} one list for each line
 */
export function spansByLine(lines, ranges) {
  let [from, next] = [0, 0];
  return lines.map((line) => {
    const to = from + line.length;
    /** @type {Span[]} */
    const spans = [];
    while (next < ranges.length && ranges[next].end <= from) next += 1;
    for (let at = next; at < ranges.length && ranges[at].start < to; at += 1) {
      const [start, end] = [Math.max(ranges[at].start, from), Math.min(ranges[at].end, to)];
      if (start < end) spans.push([start - from, end - from]);
    }
    from = to + 1;
    return spans;
  });
}
