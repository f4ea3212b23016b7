/**
 * What a text has word for word from its passages: pure. Runs of words are compared by their hashes, and then word by word;
 * citation markers are left out, as on the server (analysis/writing_process/passage_matches.py).
 */

import { tokens } from "./log/paste-sources.js";

const MARKER = /\[[0-9,;\s\u2013-]*\]/gu;
const FACTOR = 0x01000193;

/** @typedef {{start: number, end: number, rank: number, words: number}} Copy a run of words, as long as it goes */

/** @param {string} text @returns {{word: string, start: number, end: number}[]} with the places of the text as it is */
const wordsOf = (text) => tokens(text.replace(MARKER, (marker) => " ".repeat(marker.length)));

export class PassageIndex {
  /** @param {number} run so many equal words in a row are found */
  constructor(run) {
    this.run = run;
    /** @type {Map<string, number>} */
    this.ids = new Map();
    /** @type {Map<number, [rank: number, at: number][]>} */
    this.places = new Map();
    /** @type {Int32Array[]} */
    this.passages = [];
    // The factor of the word that leaves a run.
    this.leaving = 1;
    for (let power = 1; power < run; power += 1) this.leaving = Math.imul(this.leaving, FACTOR);
  }

  /** @param {string} passage the next in order of their ranks */
  add(passage) {
    const rank = this.passages.length;
    const ids = Int32Array.from(wordsOf(passage), ({ word }) => {
      const known = this.ids.get(word) ?? this.ids.size + 1;
      this.ids.set(word, known);
      return known;
    });
    this.passages.push(ids);
    this.hashes(ids).forEach((hash, at) => {
      const places = this.places.get(hash);
      if (!places) this.places.set(hash, [[rank, at]]);
      // A run that stands in several places is named after the first.
      else if (!places.some(([other, from]) => this.equal(ids, at, other, from))) places.push([rank, at]);
    });
  }

  /** @param {Int32Array} ids @returns {number[]} of each run of words, the first one's first */
  hashes(ids) {
    /** @type {number[]} */
    const all = [];
    let hash = 0;
    for (let at = 0; at < ids.length; at += 1) {
      if (at >= this.run) hash = (hash - Math.imul(ids[at - this.run], this.leaving)) | 0;
      hash = (Math.imul(hash, FACTOR) + ids[at]) | 0;
      if (at >= this.run - 1) all.push(hash);
    }
    return all;
  }

  /** @param {string} text @returns {Copy[]} in order of the text, without overlaps */
  find(text) {
    if (!this.places.size) return [];
    const words = wordsOf(text);
    // A word that no passage has equals none: 0.
    const ids = Int32Array.from(words, ({ word }) => this.ids.get(word) ?? 0);
    /** @type {Copy[]} */
    const found = [];
    let last = -1;
    this.hashes(ids).forEach((hash, at) => {
      const place = this.places.get(hash)?.find(([rank, from]) => this.equal(ids, at, rank, from));
      if (!place) return;
      const { end } = words[at + this.run - 1];
      const before = found.at(-1);
      if (before && at <= last) {
        before.words += at + this.run - 1 - last;
        before.end = end;
      } else {
        found.push({ start: words[at].start, end, rank: place[0], words: this.run });
      }
      last = at + this.run - 1;
    });
    return found;
  }

  /** @param {Int32Array} ids @param {number} at @param {number} rank @param {number} from */
  equal(ids, at, rank, from) {
    const passage = this.passages[rank];
    for (let step = 0; step < this.run; step += 1) if (ids[at + step] !== passage[from + step]) return false;
    return true;
  }
}
