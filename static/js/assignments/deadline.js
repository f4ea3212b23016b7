/** When work is due, a text or a questionnaire: always in sight, with a warning before it in which one press gives more time. */

import { byId } from "../ui/dom.js";
import { fullTime, shortTime } from "../ui/local-times.js";
import { announce, say } from "../ui/script-messages.js";

const MINUTE = 60_000;
// The warning comes so long before the time is over, or when a third of a shorter time is left; once more at the end.
const WARN = 10 * MINUTE;
const LAST = 2 * MINUTE;
const TICK = 5_000;

export class Deadline {
  /**
   * @param {() => Promise<boolean>} renew tells the server that somebody is there, which moves the deadline; whether it heard
   * @param {() => void} over called when the time is over
   */
  constructor(renew, over) {
    this.renew = renew;
    this.over = over;
    this.due = byId("due", HTMLTimeElement);
    this.within = byId("due-within", HTMLElement);
    this.note = byId("due-soon", HTMLElement);
    this.words = byId("due-soon-words", HTMLElement);
    this.more = byId("due-more", HTMLButtonElement);
    this.title = document.title;
    // The server's clock counts, and a worker's may be wrong.
    this.ahead = Date.parse(document.body.dataset.now ?? "") - Date.now() || 0;
    this.until = Date.parse(this.due.dateTime);
    this.warned = Infinity;
    // How long a claim lasts after each sign of life.
    this.lasts = Number(document.body.dataset.lease) * MINUTE;
  }

  start() {
    if (Number.isNaN(this.until)) return;
    this.more.addEventListener("click", async () => {
      this.more.setAttribute("aria-busy", "true");
      const isKept = await this.renew();
      this.more.removeAttribute("aria-busy");
      if (isKept) announce(say("due.kept", { time: this.#time }));
      else this.words.textContent = say("due.failed");
    });
    setInterval(() => this.#show(), TICK);
    document.addEventListener("visibilitychange", () => this.#show());
    this.#show();
  }

  /** @param {string} until an acknowledgement's: whatever the server stores moves it */
  move(until) {
    this.until = Date.parse(until);
    this.#show();
  }

  get #left() {
    return this.until - Date.now() - this.ahead;
  }

  get #time() {
    return shortTime(new Date(this.until));
  }

  #show() {
    const left = this.#left;
    if (Number.isNaN(left)) return;
    // Some seconds more, by a clock that is not quite the server's, are not another minute.
    const rounded = left > this.lasts && left < this.lasts + MINUTE ? this.lasts : left;
    const minutes = Math.max(Math.ceil(rounded / MINUTE), 0);
    const rest = minutes < 120 ? say("due.minutes", { n: minutes }) : say("due.hours", { n: Math.floor(minutes / 60) });
    const [text, within] = left > 0 ? [say("due", { time: this.#time }), say("due.within", { left: rest })] : [say("due.over"), ""];
    if (this.due.textContent !== text) this.due.textContent = text;
    this.due.title = fullTime(new Date(this.until));
    if (this.within.textContent !== within) this.within.textContent = within;
    const step = left <= 0 ? 0 : left <= Math.min(LAST, this.lasts / 9) ? LAST : left <= Math.min(WARN, this.lasts / 3) ? WARN : Infinity;
    if (step === this.warned) return;
    this.warned = step;
    this.note.hidden = step === Infinity || step === 0;
    this.due.parentElement?.toggleAttribute("data-soon", step < Infinity);
    document.title = this.note.hidden ? this.title : `${rest} · ${this.title}`;
    if (!this.note.hidden) this.words.textContent = say("due.soon", { time: this.#time, left: rest });
    if (step === 0) this.over();
  }
}
