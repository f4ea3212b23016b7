/** Other tabs of this browser on the same task: who opens asks them to send everything and to hand over. */

/** A tab that is there says so at once, in milliseconds; to send what it has it may take longer. */
const ANSWER = 250;
const HAND_OVER = 5000;

export class Tabs {
  /**
   * @param {string} home
   * @param {() => Promise<boolean>} handOver stop writing here; resolves when all is sent, or false if nobody writes here
   */
  constructor(home, handOver) {
    this.me = `${Date.now()}-${Math.random()}`;
    /** @type {Map<string, () => void>} tabs that were asked and have not handed over yet */
    this.asked = new Map();
    this.channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(`crowdrag-writing:${home}`) : null;
    this.channel?.addEventListener("message", async ({ data }) => {
      if (data.kind === "hello" && data.from !== this.me) {
        this.say("here", data.from);
        await handOver();
        this.say("handed", data.from);
      } else if (data.to === this.me && data.kind === "here") this.asked.set(data.from, () => {});
      else if (data.to === this.me && data.kind === "handed") {
        this.asked.get(data.from)?.();
        this.asked.delete(data.from);
      }
    });
  }

  /** @param {string} kind @param {string} [to] */
  say(kind, to) {
    this.channel?.postMessage({ kind, to, from: this.me });
  }

  /** @returns {Promise<void>} once the others have handed over, or do not answer */
  async takeOver() {
    if (!this.channel) return;
    this.asked.clear();
    this.say("hello");
    await new Promise((resolve) => setTimeout(resolve, ANSWER));
    const waiting = [...this.asked.keys()].map((tab) => new Promise((resolve) => this.asked.set(tab, () => resolve(null))));
    if (!waiting.length) return;
    await Promise.race([Promise.all(waiting), new Promise((resolve) => setTimeout(resolve, HAND_OVER))]);
  }
}
