/**
 * Time in the log: whole milliseconds since the log's start, which the server says at opening; from then on the
 * browser's monotonic clock counts. It never goes back, whatever the device's clock does.
 */

/** A move of the wall clock against the monotonic one that is told, in milliseconds. */
const JUMP = 250;

export class Clock {
  /** @param {number} elapsed milliseconds since the log's start, at this moment */
  constructor(elapsed) {
    this.elapsed = elapsed;
    this.opened = performance.now();
    this.last = 0;
    this.drift = Date.now() - this.opened;
  }

  /** @returns {number} */
  now() {
    this.last = Math.max(this.last, Math.round(this.elapsed + performance.now() - this.opened));
    return this.last;
  }

  /**
   * Tell by how much the wall clock moved against the monotonic one since the last call that told of a move; 0 for
   * little. It was set, or the device slept: most browsers' monotonic clocks stand still meanwhile.
   * @returns {number}
   */
  jumped() {
    const drift = Date.now() - performance.now();
    const moved = Math.round(drift - this.drift);
    if (Math.abs(moved) <= JUMP) return 0;
    this.drift = drift;
    return moved;
  }
}
