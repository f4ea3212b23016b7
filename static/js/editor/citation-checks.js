/**
 * Checks of a text's citations. On the server, a marker stands for everything since the last one. Here, a paragraph or a
 * point of a list without a citation is worth a look, whatever a later paragraph cites.
 */

import { emptyBrackets, markers, stripped } from "./statements.js";

/**
 * @typedef {object} Finding
 * @property {"missing" | "empty" | "unclosed" | "uncited" | "elsewhere" | "copied"} kind
 * @property {boolean} wrong
 * @property {number} start
 * @property {number} end
 * @property {string} about the number or the words that it is about
 * @property {number} [other] where the same claim stands, cited
 * @property {string} [cited] by which marker
 * @property {number} [rank] the passage that has the same words
 * @property {number} [words] how many words in a row are the same
 */

/** @typedef {{start: number, end: number, marker: string}} Sentence */

const UNCLOSED = /\[[ \t]*\d+(?:[ \t]*[,;\u2013-][ \t]*\d+)*[ \t]*(?![\d,;\]\u2013 \t-])/gu;
const SENTENCE = /[^.!?\u2026\u3002\uff01\uff1f]+(?:[.!?\u2026\u3002\uff01\uff1f]+(?=[\s"'\u201d\u2019\u00bb)\]]|$)["'\u201d\u2019\u00bb)]*|[.!?\u2026\u3002\uff01\uff1f]+|$)/gu;
const CLOSING = /[.,;:!?\u2026"'\u201d\u2019\u00bb)]+/uy;
const ENDED = /[.!?\u2026\u3002\uff01\uff1f]["'\u201d\u2019\u00bb)]*\s*$/u;
const BULLET = /^\s*(?:[-*\u2022\u2013]|\d+[.)])\s+/u;
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
// Scripts that are written without blanks: there a sentence may be one "word".
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

// A claim has at least so many words; fewer are a heading or the beginning of one.
const FEWEST = 4;
// Two sentences say the same if so much of their words is common to both.
const SAME = 0.8;
// Beyond so many sentences only those that are equal are compared: all with all would take too long.
const COMPARED = 300;

/** @param {string} text @returns {string[]} */
const wordsOf = (text) => text.toLowerCase().match(WORDS) ?? [];

/** @param {string} text @returns {boolean} long enough to claim something */
const claims = (text) => wordsOf(text).length >= FEWEST || (UNSPACED.test(text) && text.length >= 8);

/** @param {string} text @param {import("./statements.js").Marker[]} found @returns {Sentence[]} each with its marker */
function sentences(text, found) {
  /** @type {Sentence[]} */
  const all = [];
  let from = 0;
  const pieces = [...found, null];
  for (const marker of pieces) {
    const piece = text.slice(from, marker?.start ?? text.length);
    let line = from;
    for (const part of piece.split("\n")) {
      for (const match of part.matchAll(SENTENCE)) {
        const [start, end] = stripped(text, line + match.index, line + match.index + match[0].length);
        if (claims(text.slice(start, end))) all.push({ start, end, marker: "" });
      }
      line += part.length + 1;
    }
    const last = all.at(-1);
    if (marker && last && last.start >= from && !text.slice(last.end, marker.start).trim()) {
      last.marker = text.slice(marker.start, marker.end);
    }
    from = marker?.end ?? text.length;
  }
  return all;
}

/** @param {string} text @param {Sentence[]} all @returns {Finding[]} */
function citedElsewhere(text, all) {
  const read = all.map((sentence) => ({ ...sentence, words: wordsOf(text.slice(sentence.start, sentence.end)) }));
  const cited = read.filter((sentence) => sentence.marker);
  const exact = new Map(cited.map((sentence) => [sentence.words.join(" "), sentence]));
  const near = read.length <= COMPARED ? cited.map((sentence) => ({ ...sentence, set: new Set(sentence.words) })) : [];
  /** @type {Finding[]} */
  const findings = [];
  for (const sentence of read) {
    if (sentence.marker) continue;
    const set = new Set(sentence.words);
    const same =
      exact.get(sentence.words.join(" ")) ??
      near.find((other) => {
        const [small, large] = set.size < other.set.size ? [set, other.set] : [other.set, set];
        if (small.size < SAME * large.size) return false;
        let common = 0;
        for (const word of small) if (large.has(word)) common += 1;
        return common >= SAME * (set.size + other.set.size - common);
      });
    if (!same) continue;
    const about = text.slice(sentence.start, sentence.end);
    findings.push({ kind: "elsewhere", wrong: false, start: sentence.start, end: sentence.end, about, other: same.start, cited: same.marker });
  }
  return findings;
}

/**
 * @param {string} text
 * @param {{start: number, end: number}[]} found markers, and brackets that are meant to be some
 * @param {number} caret
 * @returns {Finding[]}
 */
function uncited(text, found, caret) {
  /** @type {Finding[]} */
  const findings = [];
  let line = 0;
  for (const part of text.split("\n")) {
    const [from, to] = [line, line + part.length];
    line = to + 1;
    const last = found.findLast((marker) => marker.start < to && marker.end > from);
    CLOSING.lastIndex = last?.end ?? 0;
    const closing = (last && CLOSING.exec(text)?.[0].length) ?? 0;
    const [start, end] = stripped(text, last ? Math.min(last.end + closing, to) : from, to);
    const rest = text.slice(start, end).replace(BULLET, "");
    if (!claims(rest)) continue;
    // Not while it is being written: until the sentence ends, or the caret has gone elsewhere.
    if (!ENDED.test(rest) && caret >= start && caret <= to) continue;
    // A line that ends in nothing and begins with nothing is a heading, as one ending in a colon is.
    if (!last && !ENDED.test(rest) && !BULLET.test(part) && (rest.endsWith(":") || wordsOf(rest).length < 12)) continue;
    findings.push({ kind: "uncited", wrong: false, start, end, about: text.slice(start, end) });
  }
  return findings;
}

/**
 * @param {string} text
 * @param {number} passages
 * @param {number} [caret] where the writer is; -1: nowhere
 * @param {import("./copied-text.js").PassageIndex | null} [sources] the passages' words; without them nothing is compared
 * @returns {Finding[]} in order of the text
 */
export function check(text, passages, caret = -1, sources = null) {
  const found = markers(text, passages);
  /** @type {Finding[]} */
  const findings = [];
  for (const marker of found) {
    if (!marker.outside) continue;
    const about = text.slice(marker.start, marker.end);
    findings.push({ kind: "missing", wrong: true, start: marker.start, end: marker.end, about });
  }
  for (const { start, end } of emptyBrackets(text)) {
    if (caret <= start || caret > end - 1) findings.push({ kind: "empty", wrong: true, start, end, about: text.slice(start, end) });
  }
  for (const match of text.matchAll(UNCLOSED)) {
    const end = match.index + match[0].length;
    if (caret < match.index || caret > end) findings.push({ kind: "unclosed", wrong: true, start: match.index, end, about: match[0].trim() });
  }
  const elsewhere = citedElsewhere(text, sentences(text, found));
  // Brackets that are wrong are complained of already; what is cited elsewhere is not said to be uncited besides.
  const brackets = [...found, ...findings].sort((a, b) => a.start - b.start);
  const known = new Set(elsewhere.map(({ end }) => end));
  const bare = uncited(text, brackets, caret).filter(({ end }) => !known.has(end));
  const copied = (sources?.find(text) ?? []).map((copy) => ({ ...copy, about: text.slice(copy.start, copy.end) }));
  findings.push(...elsewhere, ...bare, ...copied.map((each) => ({ ...each, kind: /** @type {const} */ ("copied"), wrong: false })));
  return findings.sort((a, b) => a.start - b.start);
}
