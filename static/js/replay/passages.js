/** Marks, in the list of passages, those that were open or in view at a moment, and where a paste was from. */

/** @param {[number, number, number][]} spans @param {number} t @returns {Set<number>} ranks of the spans that hold this moment */
function holding(spans, t) {
  /** @type {Set<number>} */
  const ranks = new Set();
  for (const [rank, from, to] of spans) {
    if (from > t) break;
    if (t < to) ranks.add(rank);
  }
  return ranks;
}

export class Passages {
  /** @param {HTMLElement | null} list @param {import("./moments.js").Log} log */
  constructor(list, log) {
    this.list = list;
    this.log = log;
    this.shown = "";
    /** @type {Map<number, HTMLElement>} */
    this.items = new Map();
    for (const item of list?.querySelectorAll("[data-rank]") ?? []) {
      if (item instanceof HTMLElement) this.items.set(Number(item.dataset.rank), item);
    }
  }

  /** @param {number} t @param {number} source the passage that what just came is from, or less than 0 */
  show(t, source) {
    const open = holding(this.log.open, t);
    const view = holding(this.log.view, t);
    const shown = [...open, "/", ...view, "/", source].join();
    if (shown === this.shown) return;
    this.shown = shown;
    for (const [rank, item] of this.items) {
      item.classList.toggle("is-open", open.has(rank));
      item.classList.toggle("is-in-view", view.has(rank));
      item.classList.toggle("is-source", rank === source);
      const said = item.querySelector(".passage-now");
      if (said) said.textContent = rank === source ? "text taken from here" : open.has(rank) ? "open" : view.has(rank) ? "in view" : "";
    }
    const first = this.items.get(source >= 0 ? source : ([...open].at(-1) ?? [...view][0] ?? -1));
    if (first) this.reveal(first);
  }

  clear() {
    this.shown = "";
    for (const item of this.items.values()) {
      item.classList.remove("is-open", "is-in-view", "is-source");
      const said = item.querySelector(".passage-now");
      if (said) said.textContent = "";
    }
  }

  /** @param {HTMLElement} item scrolled to within the list, never with the page */
  reveal(item) {
    const { list } = this;
    if (!list || list.scrollHeight <= list.clientHeight) return;
    const [box, its] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
    if (its.top < box.top || its.bottom > box.bottom) list.scrollTop += its.top - box.top - 8;
  }
}
