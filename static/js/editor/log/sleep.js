/** Sleeping that can be cut short: when the network is back, the page is seen again, or there is something to do. */

export class Wake {
  constructor() {
    /** @type {Set<() => void>} */
    this.sleepers = new Set();
  }

  /** @param {number} [ms] without it until woken @returns {Promise<void>} */
  sleep(ms) {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => up(), ms);
      const up = () => {
        clearTimeout(timer);
        this.sleepers.delete(up);
        resolve();
      };
      this.sleepers.add(up);
    });
  }

  wake() {
    for (const up of [...this.sleepers]) up();
  }
}

/** Waits between tries: longer each time, up to 30 seconds, and never the same for everybody. */
export class Backoff {
  constructor() {
    this.tries = 0;
  }

  /** @returns {number} milliseconds */
  next() {
    const most = Math.min(30_000, 500 * 2 ** this.tries++);
    return most * (0.5 + Math.random() / 2);
  }

  reset() {
    this.tries = 0;
  }
}
