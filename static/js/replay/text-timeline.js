/**
 * The text at any moment, from its changes: key frames every so many changes, and from the nearest one forward. The text
 * is kept as pieces; what was deleted stays among them as a piece that is gone, so that it can be shown struck out.
 */

/**
 * @typedef {[number, number, number, string, number]} Change time, position, deleted, inserted, source; UTF-16 units
 * @typedef {{text: string, mark: number, gone: number}} Piece `mark`: its arrival or -1; `gone`: when it went, or -1
 */

export const EVERY = 128;
// Deletions within so many milliseconds of each other are one.
const TOGETHER = 2000;

/** @param {Piece} one @param {Piece} other */
function joins(one, other) {
  if (one.mark !== other.mark || one.gone < 0 !== other.gone < 0) return false;
  return one.gone < 0 || Math.abs(one.gone - other.gone) <= TOGETHER;
}

/** @param {Piece[]} pieces where every piece that goes on with the one before becomes one with it */
function merged(pieces) {
  /** @type {Piece[]} */
  const out = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (!piece.text) continue;
    if (last && joins(last, piece)) {
      out[out.length - 1] = { text: last.text + piece.text, mark: last.mark, gone: Math.max(last.gone, piece.gone) };
    } else {
      out.push(piece);
    }
  }
  return out;
}

/**
 * Change pieces in place. What comes stands behind what is gone at the same position.
 * @param {Piece[]} pieces
 * @param {Change} change
 * @param {number} mark the arrival that it is part of, or -1
 */
export function apply(pieces, [t, position, deleted, inserted], mark) {
  let at = 0;
  let before = 0;
  for (; at < pieces.length; at += 1) {
    const { text, gone } = pieces[at];
    if (gone >= 0) continue;
    if (before + text.length > position) break;
    before += text.length;
  }
  /** @type {Piece[]} */
  const changed = [];
  let end = at;
  let into = position - before;
  let left = deleted;
  while (end < pieces.length && (left > 0 || into > 0)) {
    const piece = pieces[end];
    end += 1;
    if (piece.gone >= 0) {
      changed.push(piece);
      continue;
    }
    const taken = Math.min(left, piece.text.length - into);
    changed.push({ ...piece, text: piece.text.slice(0, into) });
    changed.push({ ...piece, text: piece.text.slice(into, into + taken), gone: t });
    left -= taken;
    if (left === 0) {
      changed.push({ text: inserted, mark, gone: -1 });
      changed.push({ ...piece, text: piece.text.slice(into + taken) });
      into = 0;
      inserted = "";
      break;
    }
    into = 0;
  }
  if (inserted) changed.push({ text: inserted, mark, gone: -1 });
  const from = Math.max(0, at - 1);
  const upto = Math.min(pieces.length, end + 1);
  pieces.splice(from, upto - from, ...merged([...pieces.slice(from, at), ...changed, ...pieces.slice(end, upto)]));
}

/** @param {Piece[]} pieces */
export function textOf(pieces) {
  let text = "";
  for (const piece of pieces) if (piece.gone < 0) text += piece.text;
  return text;
}

/**
 * The number of the last of some sorted times that is not later, plus one.
 * @template T
 * @param {T[]} rows
 * @param {number} t
 * @param {(row: T) => number} time
 */
export function upTo(rows, t, time) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time(rows[middle]) <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Film {
  /**
   * @param {Change[]} changes in order of time
   * @param {{change: number, changes: number}[]} [arrivals] what came at once, by the numbers of its changes
   * @param {number} [every] how many changes lie between two key frames
   */
  constructor(changes, arrivals = [], every = EVERY) {
    this.changes = changes;
    this.every = every;
    /** @type {Int32Array} */
    this.marks = new Int32Array(changes.length).fill(-1);
    arrivals.forEach((arrival, number) => {
      this.marks.fill(number, arrival.change, arrival.change + arrival.changes);
    });
    /** @type {Piece[][]} */
    this.frames = [];
    /** @type {Piece[]} */
    const pieces = [];
    /** @type {Int32Array} the text's length after so many changes */
    this.lengths = new Int32Array(changes.length + 1);
    changes.forEach((change, index) => {
      if (index % every === 0) this.frames.push([...pieces]);
      apply(pieces, change, this.marks[index]);
      this.lengths[index + 1] = this.lengths[index] + change[3].length - change[2];
    });
    if (!changes.length) this.frames.push([]);
    /** @type {{index: number, pieces: Piece[]}} where we are */
    this.here = { index: changes.length, pieces };
  }

  /** @param {number} t @returns {number} how many changes there were until then */
  indexAt(t) {
    return upTo(this.changes, t, (change) => change[0]);
  }

  /** @param {number} index after so many changes @returns {Piece[]} which the caller does not change */
  at(index) {
    const frame = Math.min(Math.floor(index / this.every), this.frames.length - 1);
    if (this.here.index > index || this.here.index < frame * this.every) {
      this.here = { index: frame * this.every, pieces: [...this.frames[frame]] };
    }
    const { pieces } = this.here;
    for (let next = this.here.index; next < index; next += 1) apply(pieces, this.changes[next], this.marks[next]);
    this.here.index = index;
    return pieces;
  }

  /** @param {number} t @returns {string} */
  textAt(t) {
    return textOf(this.at(this.indexAt(t)));
  }
}
