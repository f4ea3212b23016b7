/**
 * Texts as the log knows them: without what a database refuses, positions in code points, changes as splices.
 */

/** Most code points that one splice puts in; more is written as several in a row, so that no event is large. */
export const LARGEST_SPLICE = 1000;

const FORBIDDEN = /\p{Surrogate}|\0/gu;
const ASTRAL = /[\ud800-\udfff]/;

/**
 * Replace what no database takes (lone surrogates, NUL). UTF-16 offsets stay what they were.
 * @param {string} value
 * @returns {string}
 */
export function clean(value) {
  return value.replace(FORBIDDEN, "\ufffd");
}

/**
 * Count the code points before a UTF-16 offset.
 * @param {string} text
 * @param {number} [end]
 * @returns {number}
 */
export function points(text, end = text.length) {
  const part = end < text.length ? text.slice(0, end) : text;
  if (!ASTRAL.test(part)) return part.length;
  let count = part.length;
  for (let at = 1; at < part.length; at++) if (isLow(part, at) && isHigh(part, at - 1)) count--;
  return count;
}

/** @param {string} text @param {number} at */
const isHigh = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xd800;
/** @param {string} text @param {number} at */
const isLow = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
/** @param {string} text @param {number} at whether an offset lies inside a pair of surrogates */
const splits = (text, at) => at > 0 && at < text.length && isLow(text, at) && isHigh(text, at - 1);

/**
 * A change in UTF-16 offsets of the old text.
 * @typedef {{start: number, end: number, inserted: string}} Change
 */

/**
 * Find what changed between two texts.
 *
 * The same two texts can differ in several ways ("aa" to "aaa"); the selection before and the caret after say which.
 * @param {string} before
 * @param {string} after
 * @param {[number, number] | null} selection the selection in the old text
 * @param {number | null} caret where the caret stands in the new text
 * @returns {Change}
 */
export function difference(before, after, selection, caret) {
  if (selection && caret !== null && selection[1] > selection[0]) {
    const [start, end] = selection;
    const whole = { start, end, inserted: after.slice(start, Math.max(start, caret)) };
    if (apply(before, whole) === after && !splits(before, start) && !splits(before, end)) return whole;
  }
  let longest = Math.min(before.length, after.length);
  if (caret !== null && caret <= after.length && before.endsWith(after.slice(caret))) {
    // What stands behind the caret was not touched, so the change ends there.
    const kept = Math.min(after.length - caret, longest);
    const start = commonStart(before, after, longest - kept);
    return onWholePairs(before, after, start, kept);
  }
  const start = commonStart(before, after, longest);
  longest -= start;
  let kept = 0;
  while (kept < longest && before.charCodeAt(before.length - 1 - kept) === after.charCodeAt(after.length - 1 - kept)) kept++;
  return onWholePairs(before, after, start, kept);
}

/**
 * @param {string} text
 * @param {Change} change
 * @returns {string}
 */
export function apply(text, change) {
  return text.slice(0, change.start) + change.inserted + text.slice(change.end);
}

/**
 * Write a change as splices: positions in code points, none larger than `LARGEST_SPLICE`.
 * @param {string} before
 * @param {Change} change
 * @returns {[number, number, string][]} position, how many code points go, what comes
 */
export function splices(before, change) {
  let position = points(before, change.start);
  let deleted = points(before.slice(change.start, change.end));
  if (change.inserted.length <= LARGEST_SPLICE) return [[position, deleted, change.inserted]];
  /** @type {[number, number, string][]} */
  const made = [];
  for (let at = 0; at < change.inserted.length; ) {
    let end = Math.min(at + LARGEST_SPLICE, change.inserted.length);
    if (splits(change.inserted, end)) end--;
    const part = change.inserted.slice(at, end);
    made.push([position, deleted, part]);
    position += points(part);
    deleted = 0;
    at = end;
  }
  return made;
}

/**
 * Apply a splice of the log to a text.
 * @param {string} text
 * @param {number} position
 * @param {number} deleted
 * @param {string} inserted
 * @returns {string}
 */
export function replayed(text, position, deleted, inserted) {
  if (!ASTRAL.test(text)) return text.slice(0, position) + inserted + text.slice(position + deleted);
  const all = Array.from(text);
  return all.slice(0, position).join("") + inserted + all.slice(position + deleted).join("");
}

/** @param {string} a @param {string} b @param {number} most */
function commonStart(a, b, most) {
  if (a.slice(0, most) === b.slice(0, most)) return most;
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

/** @param {string} before @param {string} after @param {number} start @param {number} kept @returns {Change} */
function onWholePairs(before, after, start, kept) {
  if (splits(before, start) || splits(after, start)) start--;
  if (splits(before, before.length - kept) || splits(after, after.length - kept)) kept--;
  return { start, end: before.length - kept, inserted: after.slice(start, after.length - kept) };
}
