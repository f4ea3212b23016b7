/** Time as it is shown: as it was, or with long pauses cut short. Both directions are exact inverses outside pauses. */

import { upTo } from "./text-timeline.js";

// How long a pause is shown that is cut.
export const CUT_TO = 1000;

/** @typedef {{from: number, to: number}} Pause in milliseconds of the log */

/**
 * Pauses: what lies between changes of the text (an unchanged snapshot is none) that are further apart than `over`.
 * @param {number[]} times of changes, in order
 * @param {number} end of the log
 * @param {number} over milliseconds
 * @returns {Pause[]}
 */
export function pausesOf(times, end, over) {
  /** @type {Pause[]} */
  const pauses = [];
  let last = 0;
  for (const t of [...times, end]) {
    if (t - last > over) pauses.push({ from: last, to: t });
    last = Math.max(last, t);
  }
  return pauses;
}

export class Axis {
  /** @param {number} end @param {Pause[]} cut the pauses that are cut short, in order, apart from each other */
  constructor(end, cut) {
    this.end = end;
    /** @type {{from: number, at: number, rate: number}[]} from when, shown at, shown milliseconds for each one */
    this.knots = [{ from: 0, at: 0, rate: 1 }];
    let at = 0;
    let last = 0;
    for (const { from, to } of cut) {
      at += from - last;
      const shown = Math.min(CUT_TO, to - from);
      this.knots.push({ from, at, rate: shown / (to - from) });
      at += shown;
      this.knots.push({ from: to, at, rate: 1 });
      last = to;
    }
    this.cut = cut;
    this.total = at + end - last;
  }

  /** @param {number} t @returns {number} when it is shown */
  shown(t) {
    const knot = this.knots[Math.max(0, upTo(this.knots, t, (each) => each.from) - 1)];
    return knot.at + (t - knot.from) * knot.rate;
  }

  /** @param {number} at @returns {number} what is shown then */
  real(at) {
    const knot = this.knots[Math.max(0, upTo(this.knots, at, (each) => each.at) - 1)];
    return Math.min(this.end, knot.from + (at - knot.at) / knot.rate);
  }
}
