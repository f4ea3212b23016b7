/** Whether somebody is unsure about an item: one box below its questions, kept and sent as an answer is (outbox.js). */

export class Unsure {
  /** @param {HTMLInputElement} box */
  constructor(box) {
    this.box = box;
    this.item = Number(box.dataset.unsure);
    this.key = `u${this.item}`;
    this.check = 0;
    this.dimension = 0;
    this.isUnsure = true;
    this.options = [{ value: "0" }, { value: "1" }];
    /** What the server had when it made the page. */
    this.stored = { value: Number(box.checked), why: "", revision: Number(box.dataset.revision ?? 0) };
  }

  /** @param {{value: number | null}} given */
  show({ value }) {
    this.box.checked = value === 1;
  }
}

/** @returns {Unsure[]} those of the page */
export function find() {
  return [...document.querySelectorAll("input[data-unsure]")].flatMap((box) => (box instanceof HTMLInputElement ? [new Unsure(box)] : []));
}
