/**
 * Listen on a root for events of what matches a selector, now or later.
 *
 * @template {keyof HTMLElementEventMap} K
 * @param {Document | HTMLElement} root
 * @param {K | string} type
 * @param {string} selector
 * @param {(element: HTMLElement, event: any) => void} handle
 * @param {boolean} [capture] for events that do not bubble
 * @returns {() => void} stops listening
 */
export function delegate(root, type, selector, handle, capture = false) {
  /** @param {Event} event */
  const listener = (event) => {
    const element = event.target instanceof Element ? event.target.closest(selector) : null;
    if (element instanceof HTMLElement && root.contains(element)) handle(element, event);
  };
  root.addEventListener(type, listener, capture);
  return () => root.removeEventListener(type, listener, capture);
}

/**
 * Do something to the page as it is and to whatever HTMX puts in later.
 *
 * @param {Document | HTMLElement} root
 * @param {(part: Document | HTMLElement) => void} enhance
 * @returns {() => void} stops doing so
 */
export function whenLoaded(root, enhance) {
  /** @param {Event} event */
  const listener = (event) => {
    if (event.target instanceof HTMLElement) enhance(event.target);
  };
  enhance(root);
  root.addEventListener("htmx:load", listener);
  return () => root.removeEventListener("htmx:load", listener);
}

/** @param {...(() => void)} teardowns @returns {() => void} */
export function all(...teardowns) {
  return () => teardowns.forEach((teardown) => teardown());
}
