/**
 * Statements and citations of a text: the grammar of analysis/text/statements.py, whose docstrings say what it means. A
 * test parses random texts with both and compares.
 *
 * Offsets are those of JavaScript's strings (UTF-16 units), since text fields count so; `points` converts.
 */

// Python's white space, which is not JavaScript's: U+FEFF is none, U+001C to U+001F and U+0085 are.
const SPACE = "\\t-\\r\\u001c-\\u001f \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const ENTRY = `[0-9]+(?:[${SPACE}]*[-\\u2013][${SPACE}]*[0-9]+)?`;
const BRACKET = `\\[[${SPACE}]*${ENTRY}(?:[${SPACE},;]+${ENTRY})*[${SPACE},;]*\\]`;
const MARKER = new RegExp(`${BRACKET}(?:[ \\t]*(?:[,;][ \\t]*)?${BRACKET})*`, "gu");
const ENTRY_PARTS = new RegExp(`([0-9]+)(?:[${SPACE}]*[-\\u2013][${SPACE}]*([0-9]+))?`, "gu");
const CLOSING = /[.,;:!?\u2026"'\u201d\u2019\u00bb)]+/uy;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
const IS_SPACE = new RegExp(`[${SPACE}]`, "u");
const SPACES = new RegExp(`[${SPACE}]+`, "u");
const EMPTY = /\[[\s,;]*\]/gu;

// Longer runs of digits name no passage.
const MAX_DIGITS = 9;

/**
 * @typedef {object} Marker
 * @property {number} start
 * @property {number} end
 * @property {number[]} cited indices of passages, in order, repetitions kept
 * @property {number} outside how many others it names
 */

/**
 * @typedef {object} Statement
 * @property {number} start
 * @property {number} end
 * @property {string} body
 * @property {string} closing
 * @property {number[]} citations each once
 * @property {number} markerStart equals `end`, as `markerEnd` does, where there is no marker
 * @property {number} markerEnd
 */

/** @param {string} digits @returns {number} */
function index(digits) {
  const significant = digits.replace(/^0+/, "") || "0";
  return significant.length <= MAX_DIGITS ? Number(significant) : 10 ** MAX_DIGITS;
}

/** @param {string} marker @param {number} passages @returns {{cited: number[], outside: number}} */
function read(marker, passages) {
  /** @type {number[]} */
  const cited = [];
  let outside = 0;
  for (const [, first, last] of marker.matchAll(ENTRY_PARTS)) {
    const low = index(first);
    const high = last ? index(last) : low;
    if (high < low) {
      // "[5-3]" is no range: both of its ends are meant.
      for (const end of [low, high]) end < passages ? cited.push(end) : (outside += 1);
      continue;
    }
    // Counted, never listed: "[0-999999999]" must not fill the memory.
    const beyond = Math.min(high + 1, passages);
    for (let each = low; each < beyond; each += 1) cited.push(each);
    outside += high + 1 - Math.max(low, beyond);
  }
  return { cited, outside };
}

/** @param {string} text @param {number} passages @returns {Marker[]} */
export function markers(text, passages) {
  return [...text.matchAll(MARKER)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    ...read(match[0], passages),
  }));
}

/** @param {string} text @param {number} start @param {number} end @returns {[number, number]} without white space at its ends */
export function stripped(text, start, end) {
  // By hand: a regular expression that looks for blanks before an end looks at each run of them again and again.
  let [left, right] = [start, end];
  while (left < end && IS_SPACE.test(text[left])) left += 1;
  if (left === end) return [start, start];
  while (IS_SPACE.test(text[right - 1])) right -= 1;
  return [left, right];
}

/**
 * Take a text apart.
 * @param {string} text
 * @param {number} passages how many there are to cite
 * @returns {{statements: Statement[], dropped: number, repeated: number}}
 */
export function parse(text, passages) {
  /** @type {Statement[]} */
  const statements = [];
  let [dropped, repeated, position] = [0, 0, 0];
  for (const marker of markers(text, passages)) {
    const citations = [...new Set(marker.cited)];
    dropped += marker.outside;
    repeated += marker.cited.length - citations.length;
    CLOSING.lastIndex = marker.end;
    const closing = CLOSING.exec(text)?.[0] ?? "";
    const [start, end] = stripped(text, position, marker.start);
    const body = text.slice(start, end);
    statements.push({ start, end, body, closing, citations, markerStart: marker.start, markerEnd: marker.end });
    position = marker.end + closing.length;
  }
  const [start, end] = stripped(text, position, text.length);
  const body = text.slice(start, end);
  if (WORD_CHARACTER.test(body)) {
    statements.push({ start, end, body, closing: "", citations: [], markerStart: end, markerEnd: end });
  }
  return { statements, dropped, repeated };
}

/** @param {string} text @returns {string} without markers and the blanks before them */
export function withoutMarkers(text) {
  let [plain, position] = ["", 0];
  for (const match of text.matchAll(MARKER)) {
    let end = match.index;
    while (end > position && (text[end - 1] === " " || text[end - 1] === "\t")) end -= 1;
    plain += text.slice(position, end);
    position = match.index + match[0].length;
  }
  return plain + text.slice(position);
}

/** @param {string} text @returns {number} space-separated words, markers not counted */
export function countWords(text) {
  return withoutMarkers(text).split(SPACES).filter(Boolean).length;
}

/** @param {string} text @param {number} offset @returns {number} the offset in code points */
export function points(text, offset) {
  let count = 0;
  for (let at = 0; at < offset; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** @param {string} text @returns {{start: number, end: number}[]} brackets that name no passage, which are no markers */
export function emptyBrackets(text) {
  return [...text.matchAll(EMPTY)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}
