/**
 * How long each item is before somebody's eyes. Counted while the page is in front, the item shown and somebody there: who
 * touches nothing for a while is taken to be away from then on. Sums of one opening of the page are told again and again;
 * the server keeps the greatest, so nothing is lost with a report, and nothing counts twice. A report that is due goes along
 * with the next answer; it is sent alone only if there is no answer for a while.
 */

import { postAsWriter as post } from "../editor/log/requests.js";

const BEAT = 1_000;
const TOLD_EVERY = 15_000;
// Whoever judges answers more often than this.
const ALONE_AFTER = 20_000;
// Reading a page of text without touching anything takes no longer.
const STILL = 120_000;
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "touchmove", "scroll"];

/** @typedef {{active: number, away: number, looks: number, leaves: number, changes: number}} Sums */
/** @typedef {{visit: string, times: ({item: number} & Sums)[]}} Report */

export class Times {
  /** @param {string} url @param {(facts: any) => void} follow what an acknowledgement says */
  constructor(url, follow) {
    this.url = url;
    this.follow = follow;
    this.visit = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`.slice(0, 36);
    /** @type {Map<number, Sums>} */
    this.sums = new Map();
    /** @type {Set<number>} those with something that was not told yet */
    this.fresh = new Set();
    this.item = 0;
    this.last = performance.now();
    this.toldAt = this.last;
    this.sign = this.last;
    this.present = true;
    this.gone = false;
    this.over = false;
  }

  start() {
    const sign = () => {
      this.#count();
      this.sign = performance.now();
    };
    for (const type of SIGNS) addEventListener(type, sign, { passive: true, capture: true });
    const turn = () => {
      this.#count();
      const present = document.visibilityState === "visible" && document.hasFocus();
      if (this.present && !present && !this.gone) this.#of(this.item).leaves += 1;
      if (!this.present && present) this.sign = performance.now();
      this.present = present;
    };
    addEventListener("focus", turn);
    addEventListener("blur", () => setTimeout(turn)); // the focus has not gone yet while its going is told
    document.addEventListener("visibilitychange", () => {
      turn();
      if (document.visibilityState === "hidden") void this.tell(true);
    });
    // Whoever closes the page goes, and does not leave an item to come back to it.
    addEventListener("pagehide", () => {
      this.gone = true;
      void this.tell(true);
    });
    addEventListener("pageshow", () => (this.gone = false));
    turn();
    setInterval(() => {
      this.#count();
      if (document.visibilityState === "visible" && performance.now() - this.toldAt >= ALONE_AFTER) void this.tell();
    }, BEAT);
  }

  /** @param {HTMLElement} shown the step that is shown from now on */
  show(shown) {
    this.#count();
    this.item = Number(shown.dataset.item ?? 0);
    if (this.item) this.#of(this.item).looks += 1;
  }

  /** @param {number} item an answer there was changed */
  changed(item) {
    this.#of(item).changes += 1;
  }

  /** @param {boolean} [leaving] @returns {Promise<void>} */
  async tell(leaving = false) {
    const report = this.#report();
    if (!report) return;
    const { status, body } = await post(this.url, report, leaving);
    if (status === 200) this.follow(body);
    this.#settle(report, status);
  }

  /** @returns {Report | null} what the next answer takes along, if a report is due */
  take() {
    return performance.now() - this.toldAt >= TOLD_EVERY ? this.#report() : null;
  }

  /** Take the acknowledgement of an answer that took a report along. @param {Report} report @param {{status: number, body: any}} answer */
  arrived(report, { status, body }) {
    this.#settle(report, status === 200 && body.times?.problem ? 400 : status);
  }

  /** @returns {Report | null} what was not told yet */
  #report() {
    this.#count();
    if (!this.fresh.size || this.over) return null;
    const times = [...this.fresh].map((item) => ({ item, ...rounded(this.#sums(item)) }));
    this.fresh.clear();
    this.toldAt = performance.now();
    return { visit: this.visit, times };
  }

  /** @param {Report} report @param {number} status */
  #settle(report, status) {
    if (status === 200) return;
    if ([400, 404, 409].includes(status)) this.over = true;
    else for (const { item } of report.times) this.fresh.add(item);
  }

  /** Tell the server that somebody is there, which moves the deadline. @returns {Promise<boolean>} whether it heard */
  async renew() {
    const { status, body } = await post(this.url, { visit: this.visit, times: [] });
    if (status === 200) this.follow(body);
    return status === 200;
  }

  #count() {
    const now = performance.now();
    // A page that was asleep wakes up with a long gap: nobody looked at it then.
    const lasted = now - this.last;
    this.last = now;
    if (!this.item || document.querySelector("dialog[open]")) return;
    const still = now - this.sign;
    const slept = lasted > 5 * BEAT;
    const sums = this.#of(this.item);
    if (this.present && still < STILL && !slept) sums.active += lasted / 1000;
    else sums.away += lasted / 1000;
  }

  /** @param {number} item @returns {Sums} to be changed */
  #of(item) {
    if (item) this.fresh.add(item);
    return this.#sums(item);
  }

  /** @param {number} item @returns {Sums} */
  #sums(item) {
    const known = this.sums.get(item) ?? { active: 0, away: 0, looks: 0, leaves: 0, changes: 0 };
    this.sums.set(item, known);
    return known;
  }
}

/** @param {Sums} sums */
function rounded(sums) {
  return { ...sums, active: Math.round(sums.active * 10) / 10, away: Math.round(sums.away * 10) / 10 };
}
