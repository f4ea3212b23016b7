/** What stands out in a log, to jump to and to list: arrivals, pauses, deletions, times away. Also words for figures. */

import { pausesOf } from "./time-axis.js";

/**
 * @typedef {"start" | "arrival" | "pause" | "deletion" | "away"} Kind
 * @typedef {{kind: Kind, t: number, to: number, label: string}} Moment
 * @typedef {{t: number, change: number, changes: number, how: string, length: number, place: number, share: number, survived: number}} Arrival
 * @typedef {{
 *   source: string, has_keys: boolean, end: number, span: number, sources: string[], length: number,
 *   revises: boolean, start: {length: number, survived: number} | null,
 *   changes: import("./text-timeline.js").Change[], carets: [number, number, number, number][], arrivals: Arrival[],
 *   keys: [number, number][], open: [number, number, number][], view: [number, number, number][],
 *   hidden: [number, number][], unfocused: [number, number][],
 *   searches: [number, string, number][], citations: [number, number, string][], copies: [number, number, number][],
 *   clock: [number, number][], set_back: number, sessions: [number, number, string | null][],
 *   gaps: [number, number, number, number][], branches: {session: number, events: number, text: string}[],
 * }} Log
 */

export const LISTED_PAUSE = 10_000;
// So many characters that go within two seconds are a deletion that stands out.
export const LISTED_DELETION = 15;
const RUN = 2000;
const NAMES = {
  pasted: "Paste",
  dropped: "Drop",
  restored: "Restored text",
  external: "Text inserted by a program",
};

/** @param {number} milliseconds @returns {string} 0:07, 12:03, 3:07:12 */
export function clock(milliseconds) {
  // Rounded as `lasting` does: a page must not say 7:01 here and 7 min 2 s there.
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (!parts[0]) parts.shift();
  return parts.map((part, number) => (number ? String(part).padStart(2, "0") : String(part))).join(":");
}

/** @param {number} milliseconds @returns {string} as a person says it */
export function lasting(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

/** @param {number} place */
export function placeName(place) {
  if (place === -1) return "own text";
  return place < 0 ? "elsewhere" : `passage ${place}`;
}

/** @param {Arrival} arrival */
export function arrivalName(arrival) {
  const name = NAMES[/** @type {keyof typeof NAMES} */ (arrival.how)] ?? "Text inserted in one step";
  const from = arrival.place === -2 ? "not found in any passage" : `from ${placeName(arrival.place)}`;
  const share = arrival.place !== -2 && arrival.share < 0.995 ? ` (${Math.round(arrival.share * 100)} % of its words)` : "";
  return `${name} of ${arrival.length} characters, ${from}${share}`;
}

/** @param {Log} log @returns {string} where the text comes from that a task began with */
export function startName(log) {
  return log.revises ? "the version before the revision" : "an earlier text";
}

/** @param {Log} log @returns {number[]} times at which the text really changed */
export function changed(log) {
  return log.changes.filter((change) => change[2] || change[3]).map((change) => change[0]);
}

/** @param {Log} log @returns {Moment[]} */
function deletions(log) {
  /** @type {(Moment & {count: number})[]} */
  const runs = [];
  for (const [t, , deleted, inserted] of log.changes) {
    const gone = deleted - inserted.length;
    const last = runs.at(-1);
    if (gone <= 0) continue;
    if (last && t - last.to <= RUN) {
      last.to = t;
      last.count += gone;
    } else {
      runs.push({ kind: "deletion", t, to: t, label: "", count: gone });
    }
  }
  const long = runs.filter((run) => run.count >= LISTED_DELETION);
  return long.map(({ count, ...run }) => ({ ...run, label: `${count} characters deleted` }));
}

/** @param {Log} log @returns {Moment[]} the text that was there before anything was written: the writer brought nothing in */
function starts(log) {
  if (!log.start) return [];
  const { length, survived } = log.start;
  const kept = Math.round((survived / length) * 100);
  const label = `${length} characters from ${startName(log)}, ${kept} % of them in the final text`;
  return [{ kind: "start", t: 0, to: 0, label }];
}

/** @param {Log} log @returns {Moment[]} in order of time */
export function momentsOf(log) {
  /** @type {Moment[]} */
  const arrivals = log.arrivals.map((arrival) => {
    const kept = Math.round((arrival.survived / arrival.length) * 100);
    return { kind: "arrival", t: arrival.t, to: arrival.t, label: `${arrivalName(arrival)}, ${kept} % of it in the final text` };
  });
  /** @type {Moment[]} */
  const pauses = pausesOf(changed(log), log.end, LISTED_PAUSE).map(({ from, to }) => {
    const gap = log.gaps.find(([at]) => at >= from && at <= to);
    const label = gap ? `Editor closed for ${lasting(gap[2])}` : `Pause of ${lasting(to - from)}`;
    return { kind: "pause", t: from, to, label };
  });
  /** @type {Moment[]} */
  const away = log.hidden.map(([from, to]) => ({ kind: "away", t: from, to, label: `Another tab or window in front for ${lasting(to - from)}` }));
  return [...starts(log), ...arrivals, ...pauses, ...deletions(log), ...away].sort((a, b) => a.t - b.t);
}
