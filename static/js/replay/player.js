/** The player: one moment of a log at a time, moved by a clock, a slider, keys, and a press on the timeline. */

import { Axis, pausesOf } from "./time-axis.js";
import { Film, textOf } from "./text-timeline.js";
import { changed, clock, lasting, momentsOf } from "./moments.js";
import { Sheet } from "./text-view.js";
import { Timeline } from "./timeline.js";

export const SPEEDS = [0.5, 1, 2, 5, 10, 20, 50];
const REMEMBERED = "replay";
// How long, as one watches, deleted text stays struck out.
const STRUCK = 1200;

/** @typedef {{speed: number, cut: number, deletions: import("./text-view.js").Deletions}} Choices */

/** @returns {Choices} what this reader chose last time */
function remembered() {
  /** @type {Choices} */
  const fallback = { speed: 10, cut: 5, deletions: "moment" };
  try {
    return { ...fallback, ...JSON.parse(localStorage.getItem(REMEMBERED) ?? "{}") };
  } catch {
    return fallback;
  }
}

/** @typedef {{t: number, at: number, index: number, arrival: number, text: () => string}} Now */

export class Player extends EventTarget {
  /**
   * @param {import("./moments.js").Log} log
   * @param {{sheet: HTMLElement, timeline: SVGSVGElement, slider: HTMLInputElement, time: HTMLElement}} places
   */
  constructor(log, places) {
    super();
    this.log = log;
    this.places = places;
    this.film = new Film(log.changes, log.arrivals);
    this.times = changed(log);
    this.moments = momentsOf(log);
    this.choices = remembered();
    this.sheet = new Sheet(places.sheet, log.arrivals);
    this.timeline = new Timeline(places.timeline, log, this.film, (at) => this.seek(at));
    this.playing = false;
    this.at = 0;
    this.drawn = "";
    this.axis = new Axis(log.end, []);
    this.relay();
    new ResizeObserver(() => this.resized()).observe(places.timeline.parentElement ?? places.timeline);
  }

  /** Lay time out anew: the pauses that are cut have changed. */
  relay() {
    const t = this.t;
    const { cut } = this.choices;
    this.axis = new Axis(this.log.end, cut ? pausesOf(this.times, this.log.end, cut * 1000) : []);
    this.at = this.axis.shown(t);
    this.places.slider.max = String(Math.ceil(this.axis.total));
    this.timeline.draw(this.axis);
    this.show();
  }

  resized() {
    const width = Math.round(this.places.timeline.getBoundingClientRect().width);
    if (Math.abs(width - this.timeline.width) < 2) return;
    this.timeline.draw(this.axis);
    this.timeline.point(this.at);
  }

  /** @returns {number} the moment of the log that is shown */
  get t() {
    return this.axis.real(this.at);
  }

  /** @template {keyof Choices} K @param {K} name @param {Choices[K]} value */
  choose(name, value) {
    this.choices = { ...this.choices, [name]: value };
    try {
      localStorage.setItem(REMEMBERED, JSON.stringify(this.choices));
    } catch {
      // A browser that keeps nothing forgets the choice, no more.
    }
    if (name === "cut") this.relay();
    this.drawn = "";
    this.show();
    this.dispatchEvent(new Event("choice"));
  }

  /** @param {number} at a shown time */
  seek(at) {
    this.at = Math.max(0, Math.min(this.axis.total, at));
    this.show();
    this.dispatchEvent(new Event("moved"));
  }

  /** @param {number} t a moment of the log */
  seekReal(t) {
    this.seek(this.axis.shown(Math.max(0, Math.min(this.log.end, t))));
  }

  /** @param {number} by so many changes of the text forward, or back */
  step(by) {
    const index = Math.max(0, Math.min(this.log.changes.length, this.film.indexAt(this.t) + by));
    const t = index ? this.log.changes[index - 1][0] : 0;
    this.pause();
    this.seekReal(by < 0 || !index ? t : Math.max(t, this.t));
  }

  /**
   * Go to the next moment of a kind, and around the end: a replay opens at its end.
   * @param {import("./moments.js").Kind} kind
   * @param {1 | -1} way
   * @returns {string} what to say of it
   */
  jump(kind, way) {
    const those = this.moments.filter((moment) => moment.kind === kind);
    const t = this.t;
    const ahead = way > 0 ? those.find((moment) => moment.t > t + 1) : those.findLast((moment) => moment.t < t - 1);
    const found = ahead ?? those.at(way > 0 ? 0 : -1);
    if (!found) return "None found in this text.";
    this.seekReal(found.t);
    if (ahead) return found.label;
    return `${found.label}. Continued from the ${way > 0 ? "beginning" : "end"}.`;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.playing) return;
    if (this.at >= this.axis.total) this.at = 0;
    this.playing = true;
    let last = performance.now();
    /** @param {number} now */
    const tick = (now) => {
      if (!this.playing) return;
      this.at = Math.min(this.axis.total, this.at + Math.max(0, now - last) * this.choices.speed);
      last = now;
      this.show();
      if (this.at >= this.axis.total) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    this.dispatchEvent(new Event("state"));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.dispatchEvent(new Event("state"));
  }

  /** @param {number} way one speed up or down */
  faster(way) {
    const number = SPEEDS.indexOf(this.choices.speed) + way;
    if (SPEEDS[number]) this.choose("speed", SPEEDS[number]);
  }

  /** @param {number} index @param {number} t @returns {{start: number, end: number}} */
  caret(index, t) {
    const told = this.log.carets;
    let low = 0;
    let high = told.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (told[middle][0] <= t && told[middle][1] <= index) low = middle + 1;
      else high = middle;
    }
    const last = told[low - 1];
    if (last && last[1] === index) return { start: last[2], end: last[3] };
    const change = this.log.changes[index - 1];
    const place = change ? change[1] + change[3].length : 0;
    return { start: place, end: place };
  }

  show() {
    const t = this.t;
    const index = this.film.indexAt(t);
    const { deletions, speed } = this.choices;
    const since = deletions === "never" ? Infinity : deletions === "stay" ? -1 : t - STRUCK * Math.max(1, speed);
    const caret = this.caret(index, t);
    const pieces = this.film.at(index);
    const struck = deletions === "moment" ? pieces.filter((piece) => piece.gone > since).length : 0;
    const drawn = [index, caret.start, caret.end, struck, deletions].join();
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.sheet.show(pieces, caret, since);
      this.sheet.follow();
    }
    this.timeline.point(this.at);
    const { slider, time } = this.places;
    const length = this.film.lengths[index];
    slider.value = String(this.at);
    slider.setAttribute("aria-valuetext", `${lasting(t)} of ${lasting(this.log.end)}, ${length} characters`);
    time.textContent = `${clock(t)} / ${clock(this.log.end)}`;
    const arrival = index ? this.film.marks[index - 1] : -1;
    this.dispatchEvent(
      new CustomEvent("moment", { detail: { t, at: this.at, index, arrival, text: () => textOf(this.film.at(index)) } }),
    );
  }
}
