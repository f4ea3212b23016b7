/** Where a pasted text is from: how much of it stands in which known text, by runs of words. */

/** So many words in the same order are no chance. */
const RUN = 4;
/** Of a very long paste its beginning is looked at. */
const MOST = 5000;

// Scripts that are written without blanks are taken character by character.
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]|[\p{L}\p{M}\p{N}]+/gu;

/**
 * Split a text into words, whatever its case, blanks and punctuation.
 * @param {string} text
 * @returns {string[]}
 */
export function words(text) {
  return text.normalize("NFKC").toLowerCase().match(WORDS) ?? [];
}

/**
 * Split a text into words with their places.
 * @param {string} text
 * @returns {{word: string, start: number, end: number}[]}
 */
export function tokens(text) {
  return [...text.matchAll(WORDS)].map(({ 0: word, index }) => ({
    word: word.normalize("NFKC").toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}

/** @param {string[]} all @param {number} run @returns {string[]} */
function runs(all, run) {
  return all.slice(run - 1).map((_, at) => all.slice(at, at + run).join(" "));
}

/**
 * Say which share of a text's words stands in another one, in whole percent.
 * @param {string[]} text
 * @param {string[]} other
 * @returns {number}
 */
export function share(text, other) {
  const wanted = text.slice(0, MOST);
  if (!wanted.length) return 0;
  const run = Math.min(RUN, wanted.length);
  const known = new Set(runs(other, run));
  const found = new Array(wanted.length).fill(false);
  runs(wanted, run).forEach((each, at) => {
    if (known.has(each)) found.fill(true, at, at + run);
  });
  return Math.round((100 * found.filter(Boolean).length) / wanted.length);
}
