/**
 * What the page says, in the reader's language: the server puts it into the page (writing/editor/script_messages.py). A message may
 * hold names in braces; one that counts comes as several, `name.one`, `name.other`, chosen by the language's own rules.
 */

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("wording")?.textContent ?? "{}");
const plural = new Intl.PluralRules(document.documentElement.lang || "en");

/**
 * @param {string} name
 * @param {Record<string, string | number>} [values] `n` chooses the plural
 * @returns {string}
 */
export function say(name, values = {}) {
  const counted = "n" in values ? (words[`${name}.${plural.select(Number(values.n))}`] ?? words[`${name}.other`]) : undefined;
  const text = counted ?? words[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let cleared;

/**
 * Have a screen reader say something once, politely.
 * @param {string} text
 */
export function announce(text) {
  const place = document.getElementById("announced");
  if (!place) return;
  place.textContent = "";
  clearTimeout(cleared);
  // Set a moment after it was emptied, so that the same words twice are said twice.
  cleared = setTimeout(() => {
    place.textContent = text;
  }, 60);
}
