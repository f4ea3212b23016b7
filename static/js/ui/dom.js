/** The page's own elements, by id: the template and the scripts are one piece, so a missing one is a mistake of ours. */

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page lacks #${id}.`);
  return found;
}

/**
 * Make an element of text, classes and attributes; data goes in as text only.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {{class?: string, text?: string, attributes?: Record<string, string>}} [options]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  if (options.class) element.className = options.class;
  if (options.text !== undefined) element.textContent = options.text;
  for (const [name, value] of Object.entries(options.attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * Call at most once per so many milliseconds, the last call always.
 * @param {() => void} act
 * @param {number} wait
 * @returns {{(): void, flush: () => void}}
 */
export function debounced(act, wait) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const run = () => {
    timer = undefined;
    act();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(run, wait);
  };
  later.flush = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    run();
  };
  return later;
}
