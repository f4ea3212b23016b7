/** The timeline: how fast was typed and deleted, how the text grew, pauses, what came at once, citations, times away. */

import { pausesOf } from "./time-axis.js";
import { changed, clock, LISTED_PAUSE, lasting } from "./moments.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 124;
// Rows, from the top: times away; passages opened; pauses; the text's growth and typing, deletions below; marks; times.
const AWAY = { y: 1, height: 5 };
const OPENED = { y: 8, height: 4 };
const PAUSES = { bottom: 23, least: 2, most: 9 };
const TOP = 26;
const BASE = 80;
const DEEPEST = 94;
const MARKS = 104;
const TIMES = 121;
const BIN = 3;
const LABELS = 90;

/** @param {Element} parent @param {string} tag @param {Record<string, string | number>} attributes @param {string} [title] */
function draw(parent, tag, attributes, title = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (title) draw(made, "title", {}).textContent = title;
  parent.append(made);
  return made;
}

export class Timeline {
  /**
   * @param {SVGSVGElement} place
   * @param {import("./moments.js").Log} log
   * @param {import("./text-timeline.js").Film} film
   * @param {(at: number) => void} seek to a shown time
   */
  constructor(place, log, film, seek) {
    this.place = place;
    this.log = log;
    this.film = film;
    this.width = 0;
    /** @param {PointerEvent} event */
    const go = (event) => {
      const box = place.getBoundingClientRect();
      seek(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (this.axis?.total ?? 0));
    };
    place.addEventListener("pointerdown", (event) => {
      place.setPointerCapture(event.pointerId);
      go(event);
    });
    place.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) go(event);
    });
  }

  /** @param {import("./time-axis.js").Axis} axis */
  draw(axis) {
    this.axis = axis;
    const width = Math.max(200, Math.round(this.place.getBoundingClientRect().width));
    this.width = width;
    this.place.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.place.setAttribute("height", String(HEIGHT));
    this.place.replaceChildren();
    this.pauses(axis);
    this.bands(axis);
    this.growth(axis);
    this.bars(axis);
    this.marks(axis);
    this.times(axis);
    this.head = draw(this.place, "line", { class: "tl-head", y1: 0, y2: MARKS + 6, x1: 0, x2: 0 });
  }

  /** @param {number} t @returns {number} */
  x(t) {
    const { total, shown } = /** @type {import("./time-axis.js").Axis} */ (this.axis);
    return total ? (shown.call(this.axis, t) / total) * this.width : 0;
  }

  /** @param {number} at a shown time */
  point(at) {
    const x = this.axis?.total ? (at / this.axis.total) * this.width : 0;
    this.head?.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
  }

  /** @param {import("./time-axis.js").Axis} axis */
  pauses(axis) {
    const second = 1000;
    for (const { from, to } of pausesOf(changed(this.log), this.log.end, LISTED_PAUSE / 2)) {
      const [x, end] = [this.x(from), this.x(to)];
      // From five seconds to an hour the mark grows with the logarithm: cut or not, a long pause is seen to be long.
      const long = Math.min(1, Math.log((to - from) / (5 * second)) / Math.log(720));
      const height = PAUSES.least + long * (PAUSES.most - PAUSES.least);
      const place = { x, y: PAUSES.bottom - height, width: Math.max(1.5, end - x), height };
      draw(this.place, "rect", { class: "tl-pause", ...place }, `Pause of ${lasting(to - from)}`);
    }
    for (const [at, , milliseconds] of this.log.gaps) {
      const x = this.x(at);
      draw(this.place, "line", { class: "tl-gap", x1: x, x2: x, y1: 0, y2: DEEPEST }, `Closed for ${lasting(milliseconds)}`);
    }
  }

  /** @param {import("./time-axis.js").Axis} axis */
  bands(axis) {
    /** @param {[number, number]} span @param {string} name @param {{y: number, height: number}} row @param {string} title */
    const band = ([from, to], name, row, title) => {
      const [x, end] = [this.x(from), this.x(to)];
      draw(this.place, "rect", { class: name, x, width: Math.max(1.5, end - x), ...row }, title);
    };
    for (const span of this.log.unfocused) band(span, "tl-unfocused", AWAY, `Page without keyboard focus for ${lasting(span[1] - span[0])}`);
    for (const span of this.log.hidden) band(span, "tl-hidden", AWAY, `Page not visible for ${lasting(span[1] - span[0])}`);
    for (const [rank, from, to] of this.log.open) band([from, to], "tl-open", OPENED, `Passage ${rank} open`);
  }

  /** @param {import("./time-axis.js").Axis} axis */
  growth(axis) {
    const { lengths, changes } = this.film;
    const most = lengths.reduce((one, other) => Math.max(one, other), 1);
    const y = (/** @type {number} */ length) => (BASE - (length / most) * (BASE - TOP)).toFixed(1);
    let path = `M0 ${BASE}`;
    let last = -1;
    changes.forEach((change, index) => {
      const x = this.x(change[0]);
      if (x - last < 0.75 && index < changes.length - 1) return;
      path += `H${x.toFixed(1)}V${y(lengths[index + 1])}`;
      last = x;
    });
    path += `H${this.width}`;
    draw(this.place, "path", { class: "tl-growth-area", d: `${path}V${BASE}Z` });
    draw(this.place, "path", { class: "tl-growth", d: path });
  }

  /** @param {import("./time-axis.js").Axis} axis */
  bars(axis) {
    const bins = Math.ceil(this.width / BIN);
    const typed = new Float64Array(bins);
    const gone = new Float64Array(bins);
    this.film.changes.forEach(([t, , deleted, inserted], index) => {
      const bin = Math.min(bins - 1, Math.floor(this.x(t) / BIN));
      const net = inserted.length - deleted;
      if (index === 0 && this.log.start) return; // nobody typed what was there before
      if (net < 0) gone[bin] -= net;
      else if (this.film.marks[index] < 0) typed[bin] += net;
    });
    // A few large bins must not flatten the rest: the scale ends where 98 of 100 bins are below it.
    const scale = (/** @type {Float64Array} */ values) => {
      const some = [...values].filter((value) => value > 0).sort((a, b) => a - b);
      return some[Math.floor((some.length - 1) * 0.98)] ?? 1;
    };
    const [upper, lower] = [scale(typed), scale(gone)];
    let up = "";
    let down = "";
    for (let bin = 0; bin < bins; bin += 1) {
      const x = bin * BIN;
      if (typed[bin]) up += `M${x} ${BASE}v${(-Math.min(1, typed[bin] / upper) * (BASE - TOP) * 0.6).toFixed(1)}h${BIN - 0.5}V${BASE}z`;
      if (gone[bin]) down += `M${x} ${BASE}v${(Math.max(0.15, Math.min(1, gone[bin] / lower)) * (DEEPEST - BASE)).toFixed(1)}h${BIN - 0.5}V${BASE}z`;
    }
    draw(this.place, "path", { class: "tl-typed", d: up });
    draw(this.place, "path", { class: "tl-deleted", d: down });
    draw(this.place, "line", { class: "tl-base", x1: 0, x2: this.width, y1: BASE, y2: BASE });
  }

  /** @param {import("./time-axis.js").Axis} axis */
  marks(axis) {
    for (const arrival of this.log.arrivals) {
      const kind = arrival.place === -1 ? "own" : arrival.place < 0 ? "elsewhere" : "passage";
      const x = this.x(arrival.t);
      const size = 3.5 + Math.min(3.5, arrival.length / 100);
      draw(this.place, "line", { class: `tl-arrival-line tl-${kind}`, x1: x, x2: x, y1: TOP, y2: MARKS - size });
      draw(this.place, "path", { class: `tl-arrival tl-${kind}`, d: `M${x} ${MARKS - size}l${size} ${size}l${-size} ${size}l${-size} ${-size}z` });
    }
    for (const [t] of this.log.citations) draw(this.place, "circle", { class: "tl-cite", cx: this.x(t), cy: MARKS, r: 2.5 });
    for (const [t] of this.log.searches) draw(this.place, "rect", { class: "tl-search", x: this.x(t) - 2, y: MARKS - 2, width: 4, height: 4 });
  }

  /** @param {import("./time-axis.js").Axis} axis */
  times(axis) {
    // Never less than a second apart, or two labels would say the same.
    const count = Math.max(1, Math.min(Math.max(2, Math.floor(this.width / LABELS)), Math.floor(axis.total / 1000)));
    let last = "";
    for (let number = 0; number <= count; number += 1) {
      const label = clock(axis.real((number / count) * axis.total));
      if (label === last) continue;
      last = label;
      const x = (number / count) * this.width;
      const anchor = number === 0 ? "start" : number === count ? "end" : "middle";
      draw(this.place, "line", { class: "tl-base", x1: x, x2: x, y1: MARKS + 6, y2: MARKS + 9 });
      draw(this.place, "text", { class: "tl-time", x, y: TIMES, "text-anchor": anchor }).textContent = label;
    }
  }
}
