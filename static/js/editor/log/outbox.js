/**
 * Sends the events of a session in order, one request at a time, until the server has them. A numbered batch never
 * changes, unless the server says what it holds: then the rest is framed anew.
 */

import { Events, LARGEST_BODY } from "./events.js";
import { post, postAsWriter } from "./requests.js";
import { rescue, unrescue } from "./event-store.js";
import { Backoff, Wake } from "./sleep.js";

/** What happened is on its way to the disk within this time, in milliseconds. */
const KEEP = 100;
/** Sent when nothing has happened for so long, and in any case after so long. */
const REST = 1000;
const LONGEST = 4000;
/** A session that is over is asked for again this often; so is a server that refuses what it got. */
const ASK_AGAIN = 15_000;
/** One bad answer is no news to the writer. */
const TRIES_UNTIL_TOLD = 3;
/** No batch has this number, so that asking for it tells which one is expected. */
const NONE = 2 ** 31 - 10_000;
const SMALLEST_BODY = 4096;
/** Of a longer text a copy is kept now and then only. */
const LONG_TEXT = 65_536;

/** @typedef {import("./event-store.js").Row} Row */
/** @typedef {import("./event-store.js").Frame} Frame */
/** @typedef {import("./requests.js").Answer} Answer */

export class Outbox {
  /**
   * @param {import("./event-store.js").Store} store
   * @param {Row} row
   * @param {() => void} changed
   * @param {() => string} [text] the text after all events, where it is known
   */
  constructor(store, row, changed, text) {
    this.store = store;
    this.row = row;
    this.changed = changed;
    this.text = text;
    this.events = new Events(row.acked);
    /** Events before this one are on the disk. */
    this.stored = row.acked;
    /** @type {{first: number, end: number}[]} */
    this.chunks = [];
    this.limit = LARGEST_BODY;
    this.wake = new Wake();
    this.progress = new Wake();
    this.backoff = new Backoff();
    this.notBefore = 0;
    this.retryAt = 0;
    this.firstAdded = this.lastAdded = 0;
    /** Nothing that waits for its acknowledgement is older than this. */
    this.waitingSince = performance.now();
    this.urgent = this.flying = this.rescued = false;
    this.keeping = /** @type {Promise<void> | null} */ (null);
    this.keepTimer = 0;
    this.problem = "";
    this.offline = this.expired = this.fenced = this.over = this.refused = false;
    /** @type {() => void} what to do when the server cannot go on with this session */
    this.stuck = () => {};
    /** @type {(until: string | null | undefined) => void} told until when the task is kept, with each acknowledgement */
    this.leased = () => {};
  }

  /** @returns {number} */
  get unacked() {
    return this.events.list.length;
  }

  /** @param {import("./event-store.js").Chunk[]} chunks what was kept of it */
  restore(chunks) {
    for (const chunk of [...chunks].sort((a, b) => a.first - b.first)) {
      if (!this.events.join(chunk)) break;
      this.chunks.push({ first: chunk.first, end: chunk.first + chunk.events.length });
    }
    this.stored = this.events.end;
    this.row.frames = this.row.frames.filter((frame) => frame.first + frame.count <= this.events.end);
  }

  /** @param {import("./event-store.js").LogEvent} event */
  add(event) {
    this.lastAdded = performance.now();
    if (!this.unacked) {
      this.firstAdded = this.waitingSince = this.lastAdded;
      this.wake.wake();
    }
    this.events.push(event);
    this.keepTimer ||= window.setTimeout(() => this.keep(), KEEP);
  }

  /** @returns {Promise<void>} once all that happened until now is on the disk, or cannot be brought there */
  async keep() {
    clearTimeout(this.keepTimer);
    this.keepTimer = 0;
    while (this.keeping) await this.keeping;
    this.keeping = this.write();
    await this.keeping;
    this.keeping = null;
  }

  async write() {
    const chunk = { first: this.stored, events: this.events.slice(this.stored) };
    this.snapshot(false);
    const before = this.store.problem;
    if (await this.store.keep({ ...this.row }, chunk)) {
      const end = chunk.first + chunk.events.length;
      if (chunk.events.length) this.chunks.push({ first: chunk.first, end });
      this.stored = Math.max(this.stored, end);
      if (this.rescued && this.stored === this.events.end) {
        unrescue(this.row);
        this.rescued = false;
      }
    }
    if (before !== this.store.problem) this.changed();
  }

  /** @param {boolean} always of a long text too */
  snapshot(always) {
    if (!this.text) return;
    const text = this.text();
    if (!always && text.length > LONG_TEXT) return;
    Object.assign(this.row, { text, textAt: this.events.end, at: Date.now() });
  }

  /** Send until there is no more to send for ever. */
  async run() {
    while (!this.over) {
      const wait = this.unacked ? this.due() - performance.now() : undefined;
      if (wait === undefined || wait > 0) await this.wake.sleep(wait);
      else await this.send();
    }
  }

  /** @returns {number} when to send next */
  due() {
    const server = Math.max(this.notBefore, this.retryAt);
    if (this.urgent || this.row.frames.length || this.events.fitting(this.events.first, this.limit) < this.unacked) return server;
    return Math.max(server, Math.min(this.lastAdded + REST, this.firstAdded + LONGEST));
  }

  /** Send now; the network may be back. A server that asked for a pause gets it. */
  nudge() {
    this.urgent = this.unacked > 0;
    this.retryAt = 0;
    this.wake.wake();
  }

  stop() {
    this.over = true;
    this.wake.wake();
    this.progress.wake();
  }

  /**
   * @param {number} [patience] milliseconds
   * @returns {Promise<boolean>} whether the server has everything that happened until now
   */
  async flushed(patience = Infinity) {
    const end = this.events.end;
    const last = performance.now() + patience;
    while (this.events.first < end && !this.over && performance.now() < last) {
      this.urgent = true;
      this.wake.wake();
      await this.progress.sleep(Math.min(1000, Math.max(1, last - performance.now())));
    }
    return this.events.first >= end;
  }

  /** @param {number} [limit] @returns {Frame | null} the next batch, numbered and frozen */
  freeze(limit = this.limit) {
    const last = this.row.frames.at(-1);
    const first = last ? last.first + last.count : this.events.first;
    const count = this.events.fitting(first, limit);
    if (!count) return null;
    const frame = { number: last ? last.number + 1 : this.row.batch, first, count };
    this.row.frames = [...this.row.frames, frame];
    return frame;
  }

  async send() {
    const frame = this.row.frames[0] ?? this.freeze();
    if (!frame) return;
    if (frame.first + frame.count === this.events.end) this.urgent = false;
    this.flying = true;
    const [sentAt, first] = [performance.now(), this.events.first];
    await this.keep();
    // While it was written, a hint that was sent on leaving may have brought it there.
    if (this.row.frames[0] === frame) await this.answered(frame, await this.post(frame, false));
    this.flying = false;
    if (this.events.first > first) this.waitingSince = sentAt; // what is left happened while the batch was under way
    this.firstAdded = performance.now();
    this.changed();
    this.progress.wake();
  }

  /** @param {Frame} frame @param {boolean} leaving */
  post(frame, leaving) {
    const body = {
      number: frame.number,
      first: frame.first,
      events: this.events.slice(frame.first, frame.count),
      wall: Date.now(),
      mono: Math.round(performance.now()),
      visible: document.visibilityState === "visible",
    };
    return post(this.row.log, body, { "X-Writing-Token": this.row.token }, leaving);
  }

  /** The page is hidden or goes away: keep everything at once, and let the browser send what it may. */
  leave() {
    if (!this.unacked || this.over) return;
    if (this.stored < this.events.end) {
      this.snapshot(true);
      this.rescued = rescue(this.row, { first: this.stored, events: this.events.slice(this.stored) }) || this.rescued;
    }
    void this.keep();
    if (performance.now() < this.notBefore) return;
    // All requests that outlive a page share 64 KiB: first the one that may be under way, then the rest. These are hints;
    // what is not acknowledged here is sent again.
    this.row.frames[0] ?? this.freeze();
    const [first] = this.row.frames;
    const whole = this.events.fitting(first.first, LARGEST_BODY) >= first.count;
    if (whole) void this.post(first, true).then((answer) => this.hinted(first, answer));
    const rest = this.row.frames[1] ?? this.freeze(LARGEST_BODY / 4);
    if (whole && rest && rest.count <= this.events.fitting(rest.first, LARGEST_BODY / 4)) void this.post(rest, true);
  }

  /** @param {Frame} frame @param {Answer} answer */
  hinted(frame, answer) {
    if (this.row.frames[0] === frame && this.isReceipt(frame, answer)) this.acknowledged(frame, answer);
    this.changed();
    this.progress.wake();
    this.wake.wake();
  }

  /** @param {Frame} frame @param {Answer} answer a proxy or a hotel's login page may say 200 to anything */
  isReceipt(frame, { status, body }) {
    return status === 200 && body.acked === frame.number && Number.isInteger(body.next_event);
  }

  /** @param {Frame} frame @param {Answer} answer */
  async answered(frame, answer) {
    if (this.row.frames[0] !== frame) return;
    const { status, body, after } = answer;
    if (this.isReceipt(frame, answer)) return this.acknowledged(frame, answer);
    this.offline = status === 0 || answer.elsewhere || (status >= 200 && status < 300);
    this.retryAt = performance.now() + this.backoff.next();
    if (status === 409 && body.problem === "gap") this.reframe(body);
    else if (status === 409 || status === 413) await this.smaller(frame, status);
    else if (status === 403 || status === 401) await this.renew();
    else if (status === 410) this.closed();
    else if (status === 400) this.refuse("refused");
    else if (after) this.notBefore = performance.now() + after;
    if (this.offline) this.problem = "";
    else if (status >= 429 && this.backoff.tries >= TRIES_UNTIL_TOLD) this.problem = status === 429 ? "busy" : "server";
  }

  /** @param {Frame} frame @param {Answer} answer */
  acknowledged(frame, { body }) {
    this.row.batch = frame.number + 1;
    this.row.frames = this.row.frames.slice(1);
    this.accept(frame.first + frame.count);
    this.fenced ||= Boolean(body.fenced);
    this.offline = this.expired = this.refused = false;
    this.problem = "";
    this.backoff.reset();
    this.retryAt = this.notBefore = 0;
    this.leased(body.lease_until);
  }

  /** @param {number} upTo */
  accept(upTo) {
    this.events.drop(upTo);
    this.row.acked = this.events.first;
    this.stored = Math.max(this.stored, this.row.acked);
    this.snapshot(true);
    const gone = this.chunks.filter((chunk) => chunk.end <= upTo);
    this.chunks = this.chunks.filter((chunk) => chunk.end > upTo);
    void this.store.keep({ ...this.row }, null);
    if (gone.length) void this.store.drop(this.row, gone.map((chunk) => chunk.first));
  }

  /** Frame the rest anew. @param {{next_batch?: number, next_event?: number}} held by the server */
  reframe({ next_batch: batch, next_event: event }) {
    if (!Number.isInteger(batch) || !Number.isInteger(event)) return;
    if (Number(event) < this.events.first || Number(event) > this.events.end) return this.refuse("refused");
    if (Number(event) > this.events.first) this.backoff.reset();
    this.retryAt = this.backoff.tries > 1 ? this.retryAt : 0;
    this.row.batch = Number(batch);
    this.row.frames = [];
    this.accept(Number(event));
  }

  /** @param {Frame} frame @param {number} status */
  async smaller(frame, status) {
    const probe = { number: NONE, first: NONE, events: [["f", 0, 1]], wall: 0, mono: 0, visible: true };
    const { body } = await post(this.row.log, probe, { "X-Writing-Token": this.row.token });
    if (status === 413 && (frame.count === 1 || this.limit <= SMALLEST_BODY)) this.problem = "large";
    if (body.problem !== "gap") return;
    if (status === 413) this.limit = Math.max(SMALLEST_BODY, this.limit / 2);
    this.reframe(body);
  }

  /** The token is not known any more: the session gets another one for the same session. */
  async renew() {
    const { status, body } = await postAsWriter(this.row.home, { renew: this.row.session });
    this.expired = status === 403;
    if (status === 201 && body.session === this.row.session && typeof body.token === "string") {
      this.row.token = body.token;
      this.fenced ||= Boolean(body.fenced);
      this.retryAt = 0;
      this.reframe(body);
    } else if (body.problem === "closed") this.closed();
    else if (this.expired) this.retryAt = performance.now() + ASK_AGAIN;
    else if (body.problem) this.refuse("refused");
  }

  closed() {
    this.problem = "closed";
    this.stop();
  }

  /** @param {string} problem the server does not go on with this session; what it has not is kept and tried again */
  refuse(problem) {
    this.problem = problem;
    this.refused = true;
    this.retryAt = performance.now() + ASK_AGAIN;
    this.stuck();
  }
}
