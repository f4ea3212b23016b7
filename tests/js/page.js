/**
 * Stand-ins for what some modules look for on the page as soon as they are loaded. Import this before them: their pure
 * functions can then be tested. Whatever really needs a page is tested in a browser, in tests/pages.
 */

class Element {
  /** @type {Record<string, string>} */
  dataset = {};
  textContent = "";

  /** @returns {Element[]} */
  querySelectorAll() {
    return [];
  }
}

/** @type {Map<string, Element>} */
const elements = new Map();

/**
 * The element of an id: what a module finds under it.
 * @param {string} id
 * @returns {Element}
 */
export function byId(id) {
  const known = elements.get(id) ?? new Element();
  elements.set(id, known);
  return known;
}

const types = ["HTMLElement", "HTMLInputElement", "HTMLButtonElement", "HTMLTextAreaElement", "HTMLProgressElement", "HTMLDetailsElement"];
Object.assign(globalThis, Object.fromEntries(types.map((name) => [name, Element])), {
  document: {
    documentElement: { lang: "en" },
    body: { dataset: {} },
    getElementById: byId,
    querySelectorAll: () => [],
    addEventListener: () => {},
  },
  window: { matchMedia: () => ({ matches: false }), addEventListener: () => {} },
});
byId("wording").textContent = "{}";
