/**
 * Answers on their way: kept in this browser from the moment they are given until the server has acknowledged them, sent one
 * after the other, for as long as it takes.
 *
 * Each question has what the server is known to have, and a line of what it does not have yet: at most one that was sent
 * (it is sent again as it was until it is acknowledged, since it may have arrived) and the latest wish behind it. Revisions
 * count up from what the server has. Both are kept in this browser: tabs share them, and a page that the server made just
 * before an answer arrived does not show the one before it.
 */

import { postAsWriter as post } from "../editor/log/requests.js";
import { Backoff, Wake } from "../editor/log/sleep.js";

/**
 * @typedef {import("./questions.js").Question | import("./unsure.js").Unsure} Asked
 * @typedef {{value: number, why: string, revision: number, sent?: boolean}} Entry
 * @typedef {{value: number | null, why: string, revision: number}} Known
 * @typedef {{question: Asked, known: Known, line: Entry[]}} Row
 * @typedef {"saved" | "saving" | "offline" | "server" | "expired" | "closed"} Phase
 * @typedef {{phase: Phase, since: number, waiting: number, kept: boolean, next: string, left: boolean}} State
 */

/** This many are sent at once when the page goes away: the browser finishes them without it. */
const LAST_WORDS = 8;

export class Outbox extends EventTarget {
  /**
   * @param {Asked[]} questions and whatever else is kept and sent as answers are
   * @param {{answer: string, check: string, confidence: string}} urls
   * @param {import("./local-store.js").Kept} kept
   * @param {Pick<import("./viewing-times.js").Times, "take" | "arrived"> | null} [times] whose reports go along with answers
   */
  constructor(questions, urls, kept, times = null) {
    super();
    this.times = times;
    this.urls = urls;
    this.kept = kept;
    this.wake = new Wake();
    this.backoff = new Backoff();
    /** @type {Phase} */
    this.phase = "saved";
    this.next = "";
    /** Whether the person left the study, or has to read what is recorded anew. */
    this.left = false;
    /** @type {number | null} when the oldest unacknowledged answer was given */
    this.since = null;
    /** @type {Map<string, Row>} */
    this.rows = new Map(questions.map((question) => [question.key, { question, known: question.stored, line: [] }]));
    for (const row of this.rows.values()) this.#take(row, kept.read(row.question.key));
    kept.watch((name, line) => this.#heard(name, line));
  }

  /** @returns {State} */
  get state() {
    const waiting = [...this.rows.values()].filter((row) => row.line.length).length;
    const since = this.since === null ? 0 : performance.now() - this.since;
    return { phase: this.phase, since, waiting, kept: this.kept.holds, next: this.next, left: this.left };
  }

  /** @param {string} key @returns {{value: number | null, why: string}} the latest wish: what the page should show */
  wish(key) {
    const row = this.rows.get(key);
    return row?.line.at(-1) ?? row?.known ?? { value: null, why: "" };
  }

  /**
   * Take an answer: from now on it is kept here, and sent.
   * @param {string} key @param {number} value @param {string} why @returns {boolean} whether it is another than before
   */
  give(key, value, why) {
    const row = this.rows.get(key);
    if (!row || this.phase === "closed") return false;
    const before = this.wish(key);
    if (before.value === value && before.why.trim() === why.trim()) return false;
    const last = row.line.at(-1);
    if (last && !last.sent) row.line.pop();
    row.line.push({ value, why, revision: (row.line.at(-1) ?? row.known).revision + 1 });
    this.#keep(row);
    this.since ??= performance.now();
    if (this.phase === "saved") this.phase = "saving";
    this.#told();
    this.wake.wake();
    return true;
  }

  /** Send for ever. */
  async run() {
    addEventListener("online", () => this.again());
    addEventListener("focus", () => this.again());
    document.addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? this.again() : this.#lastWords()));
    addEventListener("pagehide", () => this.#lastWords());
    while (this.phase !== "closed") {
      const row = [...this.rows.values()].find((each) => each.line.length);
      if (row) await this.#send(row);
      else {
        this.#set("saved");
        await this.wake.sleep();
      }
    }
  }

  /** Try at once, whatever the wait. */
  again() {
    this.backoff.reset();
    this.wake.wake();
  }

  /** @returns {Promise<boolean>} once all is acknowledged; false if this questionnaire takes nothing any more */
  async settled() {
    while (this.phase !== "closed" && [...this.rows.values()].some((row) => row.line.length)) {
      await new Promise((resolve) => this.addEventListener("state", resolve, { once: true }));
    }
    return this.phase !== "closed";
  }

  /** @param {Row} row */
  async #send(row) {
    const [entry] = row.line;
    entry.sent = true;
    this.#keep(row);
    if (this.phase === "saved") this.#set("saving");
    const [url, request] = this.#request(row.question, entry);
    const report = url === this.urls.answer ? this.times?.take() : null;
    const answer = await post(url, report ? { ...request, ...report } : request);
    const { status, body } = answer;
    // Whatever becomes of the answer, a report that it took along and that was not stored is told again.
    if (report) this.times?.arrived(report, { status: status === 200 ? 200 : 0, body });
    if (status === 200) this.#arrived(row, entry, body);
    else if (status === 409 && body.problem === "other") this.#other(row, body);
    else if ((status === 409 && body.problem === "closed") || status === 404) this.#close(body.next ?? "", false);
    else if (status === 403 && body.problem) this.#close(body.next ?? "", true);
    else if (status === 400) this.#refused(row, body);
    else {
      this.#set(status === 0 ? "offline" : status === 403 ? "expired" : "server");
      // The next try is another question's, so that one at which the server breaks does not keep the others back.
      this.rows.delete(row.question.key);
      this.rows.set(row.question.key, row);
      await this.wake.sleep(Math.max(this.backoff.next(), answer.after));
    }
  }

  /** @param {Asked} question @param {Entry} entry @returns {[string, object]} */
  #request(question, { value, why, revision }) {
    if ("isUnsure" in question) return [this.urls.confidence, { item: question.item, value, revision }];
    if (question.check) return [this.urls.check, { check: question.check, value, revision }];
    const { item, dimension } = question;
    return [this.urls.answer, { item, dimension, value, justification: why, revision }];
  }

  /** @param {Row} row @param {Entry} entry @param {any} body */
  #arrived(row, entry, body) {
    this.backoff.reset();
    if (body.revision > row.known.revision || !row.known.revision) row.known = { value: entry.value, why: entry.why, revision: body.revision };
    this.#drop(row);
    this.dispatchEvent(new CustomEvent("arrived", { detail: body }));
    this.#set([...this.rows.values()].some((each) => each.line.length) ? "saving" : "saved");
  }

  /** Somebody else answered meanwhile, this person on another device: what is stored is shown. @param {Row} row @param {any} body */
  #other(row, body) {
    this.backoff.reset();
    const wish = this.wish(row.question.key);
    // Another tab of this browser sent it, and what stands in line is newer: nothing is lost.
    if (body.revision <= row.known.revision) return this.#drop(row);
    row.known = { value: body.value, why: body.justification ?? "", revision: body.revision };
    row.line = [];
    this.#keep(row);
    const same = wish.value === body.value && wish.why.trim() === (body.justification ?? "");
    this.dispatchEvent(new CustomEvent("shown", { detail: { key: row.question.key, why: same ? "" : "other" } }));
    this.#told();
  }

  /** @param {Row} row @param {any} body */
  #refused(row, body) {
    row.line = [];
    this.#keep(row);
    this.dispatchEvent(new CustomEvent("shown", { detail: { key: row.question.key, why: "bad", message: body.message ?? "" } }));
    this.#told();
  }

  /** @param {string} next @param {boolean} left */
  #close(next, left) {
    this.next = next;
    this.left = left;
    this.#set("closed");
  }

  /** Take out of the line what the server has by now. @param {Row} row */
  #drop(row) {
    row.line = row.line.filter((entry) => entry.revision > row.known.revision);
    this.#keep(row);
    this.#told();
  }

  /** What an earlier page, or one that died, had not got acknowledged. @param {Row} row @param {Partial<Row> | null} kept */
  #take(row, kept) {
    if (!kept || !Array.isArray(kept.line) || !kept.known) return;
    if (kept.known.revision > row.known.revision) row.known = kept.known;
    const fits = kept.line.filter((entry) => row.question.options.some((option) => Number(option.value) === entry.value));
    const last = fits.at(-1);
    // The server has it already, though nobody here was told.
    const has = last && last.revision <= row.known.revision && last.value === row.known.value && last.why.trim() === row.known.why.trim();
    row.line = has ? [] : fits;
    if (!row.line.length) return;
    this.since ??= performance.now();
    this.phase = "saving";
  }

  /** Another tab keeps something else for a question now. @param {string} name @param {Partial<Row> | null} kept */
  #heard(name, kept) {
    const row = this.rows.get(name);
    if (!row || !kept || !Array.isArray(kept.line) || !kept.known || this.phase === "closed") return;
    if (kept.known.revision >= row.known.revision) row.known = kept.known;
    const line = kept.line.length ? kept.line : row.line;
    row.line = line.filter((entry) => entry.revision > row.known.revision);
    if (row.line.length && this.phase === "saved") this.phase = "saving";
    this.dispatchEvent(new CustomEvent("shown", { detail: { key: name, why: "" } }));
    this.#told();
    this.wake.wake();
  }

  #lastWords() {
    const rows = [...this.rows.values()].filter((row) => row.line.length).slice(0, LAST_WORDS);
    for (const row of rows) {
      row.line[0].sent = true;
      this.#keep(row);
      void post(...this.#request(row.question, row.line[0]), true);
    }
  }

  /** @param {Row} row */
  #keep(row) {
    this.kept.keep(row.question.key, { known: row.known, line: row.line });
  }

  /** @param {Phase} phase */
  #set(phase) {
    this.phase = phase;
    this.#told();
  }

  #told() {
    if (![...this.rows.values()].some((row) => row.line.length)) {
      this.since = null;
      if (this.phase !== "closed") this.phase = "saved";
    }
    this.dispatchEvent(new Event("state"));
  }
}
