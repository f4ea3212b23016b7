/** The moments as buttons, and the log's sums in a sentence: what the timeline shows, for who cannot see it. */

import { clock, lasting, startName } from "./moments.js";

/** @type {[import("./moments.js").Kind, string, string][]} kind, name, key */
export const KINDS = [
  ["arrival", "Paste", "p"],
  ["pause", "Pause", "u"],
  ["deletion", "Deletion", "d"],
  ["away", "Time away", "w"],
];

/** @param {string} text @param {string} className @returns {HTMLButtonElement} */
export function button(text, className) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.textContent = text;
  return made;
}

/** @param {HTMLElement} place @param {import("./player.js").Player} player */
export function list(place, player) {
  const items = player.moments.map((moment) => {
    const item = document.createElement("li");
    const made = button("", "moment");
    made.dataset.replayAt = String(moment.t);
    const time = document.createElement("span");
    time.className = "mono";
    time.textContent = clock(moment.t);
    made.append(time, ` ${moment.label}`);
    item.append(made);
    return item;
  });
  place.replaceChildren(...items);
}

/** @param {HTMLElement} place @param {import("./player.js").Player} player */
export function jumps(place, player) {
  for (const [kind, name, key] of KINDS) {
    const count = player.moments.filter((moment) => moment.kind === kind).length;
    const group = document.createElement("span");
    group.className = "replay-jump";
    const back = button("‹", "button button--small button--icon");
    const on = button("", "button button--small");
    const keyed = document.createElement("kbd");
    keyed.textContent = key;
    on.append(`${name} ${count} › `, keyed);
    back.setAttribute("aria-label", `Previous ${name.toLowerCase()}`);
    on.setAttribute("aria-label", `Next ${name.toLowerCase()}, ${count} in total, key ${key}`);
    back.dataset.jump = on.dataset.jump = kind;
    back.dataset.way = "-1";
    on.dataset.way = "1";
    back.disabled = on.disabled = !count;
    group.append(back, on);
    place.append(group);
  }
}

/** @param {import("./moments.js").Log} log @returns {string} how long it took and what came at once */
export function sum(log) {
  const parts = [`${lasting(log.span)} from first to last event`];
  const sessions = log.sessions.length;
  if (sessions > 1) parts.push(`${sessions} sessions`);
  const part = (/** @type {number} */ kept) => (log.length ? Math.round((kept / log.length) * 100) : 0);
  const share = (/** @type {(place: number) => boolean} */ which) => {
    const kept = log.arrivals.filter((arrival) => which(arrival.place)).reduce((all, arrival) => all + arrival.survived, 0);
    return part(kept);
  };
  if (log.start) parts.push(`${part(log.start.survived)} % of the final text comes from ${startName(log)}`);
  parts.push(
    `Pasted or inserted in one step: ${share((place) => place >= 0)} % of the final text from passages, ${share((place) => place === -2)} % from elsewhere`,
  );
  if (log.set_back) parts.push(`The writer's clock was set back ${log.set_back === 1 ? "once" : `${log.set_back} times`}`);
  if (!log.has_keys) parts.push("Snapshots of the text only: keys, focus and passages were not recorded");
  return `${parts.join(". ")}.`;
}
