/** How long each passage is in view: recorded, and shown as "seen" once it was there for long enough to be read. */

import { editor, rankOf } from "./shared-state.js";
import { passagesShown, watch as watchPanes } from "./panes.js";
import { say } from "../ui/script-messages.js";

// A passage is in view if half of it is, or if it fills half of the list.
const PART = 0.5;
// Recorded in pieces of at most this length, so that little is lost with a page that dies.
const PIECE = 10_000;
// Shorter looks are passing by.
const LOOK = 400;
// Seen: a quarter of the time that reading takes at 240 words a minute, two seconds at least, fifteen at most.
const PER_WORD = 62;
const [LEAST, MOST] = [2_000, 15_000];

/** @typedef {{rank: number, inView: boolean, since: number | null, total: number, enough: number, seen: boolean, element: HTMLElement}} Look */

const key = `crowdrag-seen-${document.body.dataset.task ?? ""}`;

/** @returns {Set<number>} */
function kept() {
  try {
    return new Set(JSON.parse(localStorage.getItem(key) ?? "[]"));
  } catch {
    return new Set();
  }
}

/** @param {Look[]} looks */
function keep(looks) {
  try {
    localStorage.setItem(key, JSON.stringify(looks.filter((look) => look.seen).map((look) => look.rank)));
  } catch {
    // Storage may be forbidden: then it holds until the page is left.
  }
}

/** @param {Look} look */
function mark(look) {
  look.seen = true;
  look.element.classList.add("is-seen");
  const place = look.element.querySelector(".passage-seen");
  if (place) place.textContent = say("seen");
}

export function start() {
  const before = kept();
  /** @type {Look[]} */
  const looks = editor.passages.map((element, rank) => {
    const words = editor.passageText(rank).split(/\s+/).length;
    const enough = Math.max(LEAST, Math.min(MOST, words * PER_WORD));
    return { rank, inView: false, since: null, total: 0, enough, seen: false, element };
  });
  for (const look of looks) if (before.has(look.rank)) mark(look);

  const counting = () => passagesShown() && document.visibilityState === "visible";
  /** @param {Look} look @param {number} now @param {boolean} goesOn */
  const settle = (look, now, goesOn) => {
    if (look.since === null) return;
    const lasted = Math.round(now - look.since);
    if (lasted >= LOOK) {
      editor.record("d", look.rank, lasted);
      look.total += lasted;
    }
    look.since = goesOn ? now : null;
    if (!look.seen && look.total >= look.enough) {
      mark(look);
      keep(looks);
    }
  };
  const update = () => {
    const now = performance.now();
    const on = counting();
    for (const look of looks) {
      if (!on || !look.inView) settle(look, now, false);
      else look.since ??= now;
    }
  };
  const tick = () => {
    const now = performance.now();
    for (const look of looks) {
      if (look.since === null) continue;
      const lasted = now - look.since;
      if (lasted >= PIECE || (!look.seen && look.total + lasted >= look.enough)) settle(look, now, true);
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!(entry.target instanceof HTMLElement)) continue;
        const high = entry.rootBounds?.height ?? Infinity;
        const fills = entry.intersectionRect.height >= PART * high;
        looks[rankOf(entry.target)].inView = entry.isIntersecting && (entry.intersectionRatio >= PART || fills);
      }
      update();
    },
    { root: editor.list, threshold: [0, 0.1, 0.25, PART, 0.75, 1] },
  );
  for (const passage of editor.passages) observer.observe(passage);
  watchPanes(update);
  document.addEventListener("visibilitychange", update);
  window.addEventListener("pagehide", () => {
    const now = performance.now();
    for (const look of looks) settle(look, now, false);
  });
  setInterval(tick, 1000);
}
