/** Random numbers that are the same in each run. */

/**
 * @param {number} seed
 * @returns {(below: number) => number} draws a whole number from 0 to below a limit
 */
export function generator(seed) {
  let state = seed;
  return (below) => {
    state = (state * 16807) % 2147483647;
    return state % below;
  };
}
