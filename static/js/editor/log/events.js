/** The events of one session that the server has not acknowledged, in order; from them batches are framed. */

import { replayed } from "./text.js";

/** A batch's body stays below what a page may still send while it goes away (64 KiB for all of it), and so does its count. */
export const LARGEST_BODY = 46 * 1024;
const MOST_EVENTS = 1000;
/** What a body holds beside its events, at most. */
const AROUND = 200;

const encoder = new TextEncoder();
/** @param {import("./event-store.js").LogEvent} event */
const sizeOf = (event) => encoder.encode(JSON.stringify(event)).length + 1;

export class Events {
  /** @param {number} first number of the first event */
  constructor(first) {
    this.first = first;
    /** @type {import("./event-store.js").LogEvent[]} */
    this.list = [];
    /** @type {number[]} */
    this.sizes = [];
  }

  /** @returns {number} the number of the event that comes next */
  get end() {
    return this.first + this.list.length;
  }

  /** @param {import("./event-store.js").LogEvent} event */
  push(event) {
    this.list.push(event);
    this.sizes.push(sizeOf(event));
  }

  /**
   * Take in a chunk from the store: what is known already or acknowledged is passed over.
   * @param {import("./event-store.js").Chunk} chunk
   * @returns {boolean} false if events are missing before it
   */
  join(chunk) {
    if (chunk.first > this.end) return false;
    chunk.events.slice(this.end - chunk.first).forEach((event) => this.push(event));
    return true;
  }

  /** @param {number} upTo events before this one are acknowledged */
  drop(upTo) {
    const count = Math.min(Math.max(0, upTo - this.first), this.list.length);
    this.list.splice(0, count);
    this.sizes.splice(0, count);
    this.first += count;
  }

  /**
   * Say how many events from one on go into a batch.
   * @param {number} first
   * @param {number} limit bytes
   * @returns {number} at least one, if there is one
   */
  fitting(first, limit) {
    const from = first - this.first;
    let bytes = AROUND;
    let count = 0;
    while (from + count < this.list.length && count < MOST_EVENTS) {
      bytes += this.sizes[from + count];
      if (count && bytes > limit) break;
      count++;
    }
    return count;
  }

  /** @param {number} first @param {number} [count] */
  slice(first, count = Infinity) {
    return this.list.slice(first - this.first, first - this.first + count);
  }

  /** @param {string} text @param {number} from @returns {string} the text after all events, as it was before one of them */
  text(text, from) {
    for (const event of this.slice(Math.max(from, this.first))) {
      if (event[0] === "s") text = replayed(text, Number(event[2]), Number(event[3]), String(event[4]));
    }
    return text;
  }
}
