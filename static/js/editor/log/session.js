/** Records, keeps and sends what is written, and says what is saved (docs/explanation/editor-log.md). */

import { Clipboard } from "./clipboard.js";
import { Clock } from "./clock.js";
import { sha256 } from "./digest.js";
import { finished } from "./completion.js";
import { Outbox } from "./outbox.js";
import { Recorder } from "./recorder.js";
import { recover } from "./recovery.js";
import { postAsWriter } from "./requests.js";
import { Store } from "./event-store.js";
import { watch } from "./page-events.js";
import { Tabs } from "./other-tabs.js";
import { clean } from "./text.js";
import { Backoff, Wake } from "./sleep.js";

/** A check sum of the text after so many events; of very long texts more seldom. */
const CHECKED = 200;
const LONG_TEXT = 200_000;
/** What an earlier session left is sent before this one begins, unless it takes longer, in milliseconds. */
const RECOVERY = 20_000;
const HAND_OVER = 4000;
const ASK_AGAIN = 15_000;
const BEAT = 1000;
/** The server can go on with another session; not with one after the other. */
const RESTART = 60_000;
/** Longest text that a field of an event other than a change may have. */
const LONGEST_FIELD = 200;

/**
 * @typedef {"opening" | "writing" | "fenced" | "closed" | "expired"} Phase
 * @typedef {object} State
 * @property {Phase} phase
 * @property {boolean} saved the server has every character that is in the field, and every event
 * @property {number} unacked events that it has not
 * @property {number} since milliseconds for which something has been unsaved
 * @property {boolean} offline
 * @property {string} problem "" or storage, full, server, busy, large, refused, closed
 * @property {string} next where to go when it is closed
 * @typedef {{session: number, text: string}} Other
 * @typedef {{textarea: HTMLTextAreaElement, urls: {session: string, finish: string}, task: string}} Options
 */

/** Start recording; the field opens when the server has answered. @param {Options} options @returns {Promise<Writing>} */
export async function startWriting(options) {
  const writing = new Writing(options);
  void writing.start();
  return writing;
}

export class Writing extends EventTarget {
  /** @param {Options} options */
  constructor({ textarea, urls }) {
    super();
    this.field = textarea;
    this.urls = urls;
    this.store = new Store();
    this.tabs = new Tabs(urls.session, () => this.handOver());
    /** @type {Phase} */
    this.phase = "opening";
    this.next = "";
    this.offline = false;
    this.problem = "";
    /** @type {Other[]} texts that went on elsewhere, and of which the writer may want something */
    this.others = [];
    /** @type {Outbox | null} */
    this.outbox = null;
    /** @type {Outbox[]} of sessions that are over here, and have something left to send */
    this.retired = [];
    /** @type {Recorder | null} */
    this.recorder = null;
    /** @type {Clock | null} */
    this.clock = null;
    this.listening = new AbortController();
    this.unchecked = 0;
    this.unsavedAt = 0;
    this.restarted = -Infinity;
    this.wake = new Wake();
    this.told = "";
    this.finishing = false;
    this.stopping = new AbortController();
  }

  async start() {
    this.listen();
    await this.store.open();
    await this.tabs.takeOver();
    const left = await recover(this, (row) => row.home === this.urls.session, RECOVERY);
    await this.open(left);
    // What was left of other tasks in this browser.
    void recover(this, (row) => row.home !== this.urls.session, Infinity);
  }

  listen() {
    const nudge = () => {
      this.wake.wake();
      for (const outbox of this.outboxes()) outbox.nudge();
      this.tell();
    };
    const leave = () => {
      this.recorder?.poll();
      for (const outbox of this.outboxes()) outbox.leave();
    };
    window.addEventListener("online", nudge);
    window.addEventListener("focus", () => this.expired() && nudge());
    window.addEventListener("pageshow", (event) => event.persisted && nudge());
    window.addEventListener("pagehide", leave);
    document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? leave() : nudge()));
    // What cannot be kept on this device would be lost with the page.
    window.addEventListener("beforeunload", (event) => {
      if (this.store.problem && !this.state.saved && this.phase !== "closed") event.preventDefault();
    });
    setInterval(() => this.tell(true), BEAT);
  }

  /** @returns {Outbox[]} */
  outboxes() {
    return this.outbox ? [this.outbox, ...this.retired] : this.retired;
  }

  expired() {
    return this.phase === "expired" || this.outboxes().some((outbox) => outbox.expired);
  }

  /** @returns {State} */
  get state() {
    // What the server refused and the text of a later session holds is kept, but does not count as unsaved for ever.
    const open = this.outboxes().filter((outbox) => outbox === this.outbox || !outbox.refused);
    const unacked = open.reduce((sum, outbox) => sum + outbox.unacked, 0);
    const recorded = this.recorder !== null && clean(this.field.value) === this.recorder.text;
    const saved = recorded && unacked === 0;
    const waiting = open.filter((outbox) => outbox.unacked).map((outbox) => outbox.waitingSince);
    return {
      phase: this.phase === "writing" && this.expired() ? "expired" : this.phase,
      saved,
      unacked,
      since: saved ? 0 : Math.round(performance.now() - Math.min(...waiting, this.unsavedAt || performance.now())),
      offline: this.offline || this.outboxes().some((outbox) => outbox.offline) || (!navigator.onLine && !saved),
      problem: this.problem || open.find((outbox) => outbox.problem)?.problem || this.store.problem,
      next: this.next,
    };
  }

  /** @param {boolean} [always] */
  tell(always = false) {
    const { state } = this;
    // What is not recorded yet waits too; once it is, its outbox knows since when (waitingSince).
    this.unsavedAt = state.saved || state.unacked ? 0 : this.unsavedAt || performance.now();
    const short = [state.phase, state.saved, state.offline, state.problem, state.next].join();
    if (short === this.told && !(always && state.unacked)) return;
    this.told = short;
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }

  /** @param {Outbox} outbox whose saving changed */
  saved(outbox) {
    if (outbox === this.outbox && outbox.fenced && this.phase === "writing") this.fence();
    if (outbox === this.outbox && outbox.over && outbox.problem === "closed") this.close("");
    if (outbox !== this.outbox && !outbox.unacked) {
      outbox.stop();
      this.retired = this.retired.filter((each) => each !== outbox);
    }
    this.tell();
  }

  /**
   * Open a session, however long it takes.
   * @param {Outbox[]} left what earlier sessions have left to send
   * @returns {Promise<boolean>} false if the task is closed
   */
  async open(left = []) {
    const backoff = new Backoff();
    for (;;) {
      const touch = matchMedia("(pointer: coarse)").matches;
      const device = { width: innerWidth, height: innerHeight, touch };
      const { status, body, after } = await postAsWriter(this.urls.session, { device, clock: Date.now() });
      this.offline = status === 0;
      this.problem = status >= 500 ? "server" : status === 429 ? "busy" : "";
      if (status === 201 && typeof body.token === "string") {
        this.begin(body, left);
        return true;
      }
      if (body.problem === "closed") {
        this.close(body.next ?? "");
        return false;
      }
      this.phase = status === 403 ? "expired" : "opening";
      this.tell();
      await this.wake.sleep(after || (status === 403 ? ASK_AGAIN : backoff.next()));
    }
  }

  /** @param {any} opened the server's answer @param {Outbox[]} left */
  begin(opened, left) {
    const { field } = this;
    field.value = opened.text;
    field.disabled = field.readOnly = false;
    // The server counts code points, of which a text has no more than the units that the field counts.
    field.maxLength = opened.max_text;
    /** @type {import("./event-store.js").Row} */
    const row = {
      home: this.urls.session,
      session: opened.session,
      token: opened.token,
      log: opened.log_url,
      acked: opened.next_event,
      batch: opened.next_batch,
      frames: [],
      text: opened.text,
      textAt: opened.next_event,
      at: Date.now(),
    };
    const recorder = new Recorder(field, (...event) => this.note(...event), () => this.wrote());
    const outbox = new Outbox(this.store, row, () => this.saved(outbox), () => recorder.text);
    outbox.stuck = () => void this.restart();
    outbox.leased = (until) => this.lease(until);
    this.outbox = outbox;
    this.recorder = recorder;
    const clock = (this.clock = new Clock(opened.elapsed));
    this.phase = "writing";
    this.unchecked = 0;
    void outbox.run();
    this.note("a", Date.now(), innerWidth, innerHeight, Number(matchMedia("(pointer: coarse)").matches));
    // A field has its own line ends; if it shows another text than it was given, that is a change.
    recorder.text = opened.text;
    recorder.poll();
    recorder.start();
    this.listening.abort();
    this.listening = new AbortController();
    watch(field, (...event) => this.note(...event), () => clock.jumped(), this.listening.signal);
    new Clipboard(field, (...event) => this.note(...event), () => recorder.text).start(this.listening.signal);
    const unsent = left.map((each) => ({ session: each.row.session, text: each.events.text(each.row.text, each.row.textAt) }));
    this.others = [...opened.others, ...unsent].filter((each) => each.text !== opened.text);
    this.tell();
    this.dispatchEvent(new CustomEvent("others", { detail: this.others }));
    this.dispatchEvent(new CustomEvent("text"));
    this.lease(opened.lease_until);
  }

  /** How long the task is kept for its writer. @param {string | null | undefined} until */
  lease(until) {
    if (until) this.dispatchEvent(new CustomEvent("lease", { detail: until }));
  }

  /** Tell the server that the writer is there, which moves the deadline. @returns {Promise<boolean>} whether it heard */
  async renew() {
    if (!this.outbox) return false;
    const { status, body } = await postAsWriter(this.urls.session, { renew: this.outbox.row.session });
    this.lease(body.lease_until);
    return status === 201;
  }

  /** @param {string} kind of an event @param {...(string | number)} fields */
  note(kind, ...fields) {
    if (!this.outbox || !this.clock || this.phase === "closed") return;
    this.outbox.add([kind, this.clock.now(), ...fields]);
    this.unchecked++;
    this.tell();
    if (this.recorder && !this.recorder.amid) this.check();
  }

  check() {
    const { recorder, outbox, clock } = this;
    if (!recorder || !outbox || !clock) return;
    if (this.unchecked < (recorder.text.length > LONG_TEXT ? 10 * CHECKED : CHECKED)) return;
    this.unchecked = 0;
    outbox.add(["h", clock.now(), sha256(recorder.text).slice(0, 16)]);
  }

  wrote() {
    this.check();
    this.tell();
    this.dispatchEvent(new CustomEvent("text"));
  }

  /** @param {string} kind of what happened on the page @param {...(string | number | boolean)} fields */
  record(kind, ...fields) {
    // One event of a wrong shape would hold up the whole log.
    this.note(kind, ...fields.map((field) => (typeof field === "string" ? short(field) : Math.round(Number(field)) || 0)));
  }

  /** @returns {string} */
  text() {
    this.recorder?.poll();
    return this.recorder?.text ?? clean(this.field.value);
  }

  /**
   * @param {string} text that the page inserts for the writer
   * @param {{start: number, end: number, source: string, caret?: number}} where
   */
  insert(text, where) {
    if (!this.field.readOnly && !this.field.disabled) this.recorder?.insert(text, where);
  }

  /** Another tab of this browser goes on: stop here, and send everything. */
  async handOver() {
    if (this.phase !== "writing" || !this.outbox) return false;
    this.fence();
    await this.outbox.keep();
    await this.outbox.flushed(HAND_OVER);
    return true;
  }

  fence() {
    this.recorder?.poll();
    this.phase = "fenced";
    this.field.readOnly = true;
    this.tell();
  }

  /** @param {string} next */
  close(next) {
    this.phase = "closed";
    this.next = next;
    this.field.readOnly = true;
    this.recorder?.stop();
    this.listening.abort();
    this.tell();
  }

  /** End the session here, but send what it has left. */
  retire() {
    this.recorder?.stop();
    this.listening.abort();
    if (!this.outbox) return;
    const outbox = this.outbox;
    outbox.text = undefined;
    this.outbox = null;
    this.retired.push(outbox);
    this.saved(outbox);
  }

  /**
   * Go on here with a text: from a tab that was fenced by opening a session, otherwise by putting it in.
   * @param {string} text
   */
  async takeOver(text) {
    if (this.phase === "closed") return;
    if (this.phase !== "writing") {
      const old = this.outbox;
      this.phase = "opening";
      this.tell();
      await this.tabs.takeOver();
      await old?.flushed(HAND_OVER);
      this.retire();
      if (!(await this.open())) return;
    }
    this.recorder?.replace(text, "restored");
    this.others = this.others.filter((other) => other.text !== text);
    this.field.focus({ preventScroll: true });
    this.dispatchEvent(new CustomEvent("others", { detail: this.others }));
  }

  /** The server cannot go on with this session (it was set back to a backup, say): go on in a new one, with this text. */
  async restart() {
    if (this.phase !== "writing" || performance.now() - this.restarted < RESTART) return;
    this.restarted = performance.now();
    const text = this.text();
    this.phase = "opening";
    this.field.readOnly = true;
    this.retire();
    if (await this.open()) this.recorder?.replace(text, "restored");
  }

  /** Go on writing instead: nothing more is asked of the server, and the field is open again. */
  stopFinishing() {
    this.stopping.abort();
  }

  /**
   * Say that the text is done, once the server has all of it.
   * @returns {Promise<{next: string} | {problem: string}>}
   */
  async finish() {
    if (this.finishing || !this.outbox || this.phase !== "writing") return { problem: this.finishing ? "busy" : this.phase };
    this.finishing = true;
    this.field.readOnly = true;
    this.stopping = new AbortController();
    const done = await finished(this, this.stopping.signal);
    this.finishing = false;
    if ("next" in done) {
      this.close(done.next);
      for (const outbox of this.outboxes()) outbox.stop();
      await this.store.forget((row) => row.home === this.urls.session);
    } else if (this.phase === "writing") this.field.readOnly = false;
    return done;
  }
}

/** @param {string} field */
const short = (field) => Array.from(clean(field)).slice(0, LONGEST_FIELD).join("");
