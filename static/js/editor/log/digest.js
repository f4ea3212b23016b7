/**
 * SHA-256, computed at once: `crypto.subtle` answers later, when the text may be another one, and not at all on pages
 * that are not served over HTTPS.
 */

const K = constants();

/** @returns {Uint32Array} the first 32 bits of the fractional parts of the cube roots of the first 64 primes */
function constants() {
  const made = new Uint32Array(64);
  for (let found = 0, number = 2; found < 64; number++) {
    let prime = true;
    for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) prime = false;
    if (prime) made[found++] = (Math.cbrt(number) % 1) * 2 ** 32;
  }
  return made;
}

/**
 * Return the SHA-256 of a text's UTF-8 in hex.
 * @param {string} text
 * @returns {string}
 */
export function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(((bytes.length + 8) >> 6) * 64 + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const hash = Uint32Array.of(
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  );
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) mix(hash, words, view, block);
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** @param {number} word @param {number} by */
const turn = (word, by) => (word >>> by) | (word << (32 - by));

/** @param {Uint32Array} hash @param {Uint32Array} w @param {DataView} view @param {number} block */
function mix(hash, w, view, block) {
  for (let i = 0; i < 16; i++) w[i] = view.getUint32(block + 4 * i);
  for (let i = 16; i < 64; i++) {
    const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
    const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = hash;
  for (let i = 0; i < 64; i++) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    hash[i] += word;
  });
}
