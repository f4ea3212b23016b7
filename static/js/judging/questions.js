/** The questions of the page: each a fieldset of radio buttons, some with a field for why. */

/**
 * @typedef {object} Given what is chosen, or was
 * @property {number | null} value
 * @property {string} why
 */

export class Question {
  /** @param {HTMLFieldSetElement} element @param {number} item @param {number} number of the item it stands below, from 1 */
  constructor(element, item, number) {
    this.element = element;
    this.item = item;
    this.number = number;
    this.check = Number(element.dataset.check ?? 0);
    this.dimension = Number(element.dataset.dimension ?? 0);
    this.key = this.check ? `c${this.check}` : `${item}-${this.dimension}`;
    this.asksWhy = "asksWhy" in element.dataset;
    this.options = [...element.querySelectorAll("input")];
    this.why = element.querySelector("textarea");
    this.note = element.querySelector(".question-note");
    this.help = element.querySelector(".question-help");
    /** What the server had when it made the page. */
    this.stored = { ...this.given(), revision: Number(element.dataset.revision ?? 0) };
  }

  /** @returns {Given} */
  given() {
    const chosen = this.options.find((option) => option.checked);
    return { value: chosen ? Number(chosen.value) : null, why: this.why?.value ?? "" };
  }

  /** @param {Given} given */
  show({ value, why }) {
    for (const option of this.options) option.checked = value !== null && Number(option.value) === value;
    if (this.why && this.why.value.trim() !== why.trim()) this.why.value = why;
  }

  /** @returns {boolean} */
  get isComplete() {
    const { value, why } = this.given();
    return value !== null && !(this.asksWhy && !why.trim());
  }

  /** @param {string} text nothing takes the note away, and leaves its place empty: nothing moves under a hand */
  tell(text) {
    if (!(this.note instanceof HTMLElement)) return;
    this.note.classList.toggle("is-past", !text);
    if (!text) return;
    this.note.textContent = text;
    this.note.hidden = false;
  }

  /** Give the place of a note that is past back. */
  tidy() {
    if (!this.note?.classList.contains("is-past")) return;
    this.note.textContent = "";
    this.note.setAttribute("hidden", "");
  }

  /** Open what explains it, or close it. */
  explain() {
    if (!(this.help instanceof HTMLElement)) return;
    this.help.hidden = !this.help.hidden;
    this.element.querySelector("[data-helps]")?.setAttribute("aria-expanded", String(!this.help.hidden));
  }

  focus() {
    const missesWhy = this.given().value !== null && !this.isComplete;
    const target = missesWhy ? this.why : (this.options.find((option) => option.checked) ?? this.options[0]);
    target?.focus();
  }
}

/** @returns {Question[]} all of them, in the order of the page */
export function find() {
  return [...document.querySelectorAll("[data-item]")].flatMap((section) => {
    const { item, number } = section instanceof HTMLElement ? section.dataset : {};
    return [...section.querySelectorAll("fieldset.question")].map((element) => {
      if (!(element instanceof HTMLFieldSetElement)) throw new Error("A question is a fieldset.");
      return new Question(element, Number(item), Number(number));
    });
  });
}
