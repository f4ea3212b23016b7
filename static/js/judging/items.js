/** One item at a time: which is shown, the dots, where the focus goes. The address names the item, so Back goes back. */

import { byId } from "../ui/dom.js";
import { announce, say } from "../ui/script-messages.js";

/** @typedef {import("./questions.js").Question} Question */

const { name = "" } = document.body.dataset;
// Where all of a pair is on one screen, the first open question has the focus; elsewhere the heading above the texts.
export const wide = matchMedia("(min-width: 72rem) and (min-height: 32rem)");

export class Items {
  /** @param {Question[]} questions */
  constructor(questions) {
    this.questions = questions;
    this.sections = [...document.querySelectorAll("[data-item]")].filter((each) => each instanceof HTMLElement);
    this.finish = byId("finish", HTMLElement);
    this.steps = [...this.sections, this.finish];
    this.dots = [...document.querySelectorAll("a[data-dot]")].filter((each) => each instanceof HTMLAnchorElement);
    this.main = byId("items", HTMLElement);
    this.here = -1;
    /** @type {((shown: HTMLElement) => void)[]} */
    this.watchers = [];
  }

  /** @param {(shown: HTMLElement) => void} watcher told of each step that comes into sight */
  watch(watcher) {
    this.watchers.push(watcher);
  }

  start() {
    document.addEventListener("click", (event) => {
      const element = event.target instanceof Element ? event.target.closest("[data-moves], a[href^='#item-'], a[href='#finish']") : null;
      if (element instanceof HTMLAnchorElement) this.go(this.steps.findIndex((step) => `#${step.id}` === element.hash));
      else if (element instanceof HTMLElement) this.move(Number(element.dataset.moves));
      else return;
      event.preventDefault();
    });
    addEventListener("popstate", () => this.#show(this.#named(), true));
    const wanted = this.#named();
    const refused = document.getElementById("refused");
    this.#show(refused ? this.steps.length - 1 : wanted, wide.matches && !refused);
    refused?.focus();
    this.tell();
  }

  /** @returns {HTMLElement} */
  get shown() {
    return this.steps[this.here];
  }

  /** @returns {Question[]} those of the item that is shown */
  get asked() {
    return this.questions.filter((question) => this.shown.contains(question.element));
  }

  /** @param {number} by */
  move(by) {
    this.go(this.here + by);
  }

  /** @param {number} step @param {Question} [to] what gets the focus: a question, or else the step's heading */
  go(step, to) {
    if (step < 0 || step >= this.steps.length) return;
    if (step !== this.here) history.pushState(null, "", `#${this.steps[step].id}`);
    this.#show(step, !to);
    if (to) {
      to.element.classList.add("is-wanted");
      to.focus();
    }
  }

  /** To the first question that is not answered in full, after this one or from the start. @param {Question} [after] */
  open(after) {
    const from = after ? this.questions.indexOf(after) + 1 : 0;
    const around = [...this.questions.slice(from), ...this.questions.slice(0, from)];
    const found = around.find((question) => !question.isComplete);
    if (found) this.go(found.number - 1, found);
    else {
      announce(say("open.none"));
      this.go(this.steps.length - 1);
    }
  }

  /** Say on dots and bar how far it is. */
  tell() {
    const answered = this.questions.filter((question) => question.isComplete).length;
    byId("answered-bar", HTMLProgressElement).value = answered;
    const here = this.asked;
    const done = { answered: here.filter((question) => question.isComplete).length, all: here.length };
    const isItem = this.shown !== this.finish;
    byId("place", HTMLElement).textContent = isItem ? (this.shown.querySelector(".judging-number")?.textContent ?? "") : "";
    byId("answered", HTMLElement).textContent = isItem
      ? say("answered.item", done)
      : say("answered", { answered, all: this.questions.length });
    byId("answered-here", HTMLElement).textContent = isItem ? say("answered.short", done) : "";
    this.sections.forEach((section, n) => {
      const asked = this.questions.filter((question) => section.contains(question.element));
      const begun = asked.some((question) => question.given().value !== null);
      const progress = asked.every((question) => question.isComplete) ? "complete" : begun ? "partly" : "open";
      const dot = this.dots[n];
      dot.dataset.progress = progress;
      dot.setAttribute("aria-label", say("dot", { name, number: n + 1, state: say(`state.${progress}`) }));
    });
  }

  #named() {
    const found = this.steps.findIndex((step) => `#${step.id}` === location.hash);
    return found >= 0 ? found : Number(document.body.dataset.first ?? 1) - 1;
  }

  /** @param {number} step @param {boolean} focuses */
  #show(step, focuses) {
    const moved = step !== this.here;
    this.here = step;
    this.steps.forEach((each, n) => (each.hidden = n !== step));
    this.dots.forEach((dot, n) => (n === step ? dot.setAttribute("aria-current", "step") : dot.removeAttribute("aria-current")));
    if (moved) {
      scrollTo(0, 0);
      const dot = this.dots[step];
      const strip = dot?.closest("ol");
      if (strip) strip.scrollLeft = dot.offsetLeft - strip.offsetLeft - strip.clientWidth / 2;
      this.main.scrollTop = 0;
      for (const part of this.shown.querySelectorAll("[data-part]")) part.scrollTop = 0;
      for (const watcher of this.watchers) watcher(this.shown);
      this.tell();
    }
    if (!focuses) return;
    const open = wide.matches ? this.asked.find((question) => !question.isComplete)?.element : null;
    const target = open ?? this.shown.querySelector("h2");
    if (!(target instanceof HTMLElement)) return;
    target.focus({ preventScroll: true });
    if (open && moved) announce(`${this.shown.querySelector(".judging-number")?.textContent}. ${this.shown.querySelector("h2")?.textContent}`);
  }
}
