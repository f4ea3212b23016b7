/** The sheet: the text at a moment, with the caret, what is selected, what just went, and what came at once. */

import { arrivalName, placeName } from "./moments.js";

/** @typedef {import("./text-timeline.js").Piece} Piece */
/** @typedef {"moment" | "stay" | "never"} Deletions whether deleted text is shown for a moment, stays, or is not shown */

/** @param {string} tag @param {string} className @param {string} [text] */
function element(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

export class Sheet {
  /** @param {HTMLElement} place @param {import("./moments.js").Arrival[]} arrivals */
  constructor(place, arrivals) {
    this.place = place;
    this.arrivals = arrivals;
    this.shown = "";
  }

  /** @param {number} mark @param {string} text */
  piece(mark, text) {
    const arrival = this.arrivals[mark];
    if (!arrival) return document.createTextNode(text);
    const kind = arrival.place === -1 ? "own" : arrival.place < 0 ? "elsewhere" : "passage";
    const made = element("span", `arrival arrival--${kind}`, text);
    made.dataset.from = placeName(arrival.place);
    made.title = arrivalName(arrival);
    return made;
  }

  /**
   * @param {Piece[]} pieces
   * @param {{start: number, end: number}} caret in the text that stands
   * @param {number} since what went later than this is shown struck out
   */
  show(pieces, caret, since) {
    const nodes = document.createDocumentFragment();
    let at = 0;
    let drawn = false;
    const low = Math.min(caret.start, caret.end);
    const high = Math.max(caret.start, caret.end);
    const cursor = () => {
      if (drawn) return;
      drawn = true;
      this.cursor = element("span", "caret");
      nodes.append(this.cursor);
    };
    for (const { text, mark, gone } of pieces) {
      if (gone >= 0) {
        if (gone > since) nodes.append(element("del", "gone", text));
        continue;
      }
      // Cut at both ends of the selection; without one both are the caret.
      const cuts = [0, low - at, high - at, text.length].map((cut) => Math.max(0, Math.min(cut, text.length)));
      for (let part = 0; part < 3; part += 1) {
        if (part === 1 && at + cuts[1] === low && low < at + text.length) cursor();
        const run = text.slice(cuts[part], cuts[part + 1]);
        if (!run) continue;
        const node = this.piece(mark, run);
        if (part !== 1) nodes.append(node);
        else {
          const selected = element("span", "selected");
          selected.append(node);
          nodes.append(selected);
        }
      }
      at += text.length;
    }
    cursor();
    this.place.replaceChildren(nodes);
  }

  /** Keep the caret in sight, within the sheet alone. */
  follow() {
    const box = this.place;
    if (!this.cursor || box.scrollHeight <= box.clientHeight) return;
    const top = this.cursor.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 2;
  }
}
