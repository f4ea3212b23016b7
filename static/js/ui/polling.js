/**
 * What asks for itself again (`data-polls`, with `hx-trigger="every …"`) does so only while somebody looks at it, and
 * nobody is in the middle of something in it: no request from a page in the background, no focus lost, no marked text gone.
 */

const POLLS = "[data-polls]";
const FAILURES = ["htmx:sendError", "htmx:responseError", "htmx:timeout"];

/** @param {Element} part @returns {boolean} whether somebody has the focus, a marked text in it */
function isInUse(part) {
  const marked = getSelection();
  const focused = document.activeElement;
  return (
    (focused !== null && focused !== part && part.contains(focused)) ||
    (marked !== null && !marked.isCollapsed && marked.containsNode(part, true))
  );
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @param {Event} event */
  const wait = (event) => {
    const part = event.target;
    if (part instanceof Element && part.matches(POLLS) && (document.hidden || isInUse(part))) event.preventDefault();
  };
  // What somebody has opened stays open.
  /** @type {string[]} */
  let opened = [];
  /** @param {Event} event */
  const remember = (event) => {
    if (event.target instanceof Element && event.target.matches(POLLS)) {
      opened = [...event.target.querySelectorAll("details[open][id]")].map((each) => each.id);
    }
  };
  const restore = () => {
    for (const id of opened) root.getElementById(id)?.setAttribute("open", "");
    opened = [];
  };
  // A server that is away is said once, and not every time that it is asked.
  let isAway = false;
  /** @param {Event} event */
  const fail = (event) => {
    if (!(event.target instanceof Element) || !event.target.matches(POLLS)) return;
    if (isAway) event.stopImmediatePropagation();
    isAway = true;
  };
  /** @param {any} event */
  const answered = (event) => {
    if (event.detail.successful) isAway = false;
  };
  // Whoever comes back to the page sees how it stands now.
  const again = () => {
    if (!document.hidden) root.querySelectorAll(POLLS).forEach((part) => window.htmx.trigger(part, "again"));
  };
  root.addEventListener("htmx:beforeRequest", wait);
  root.addEventListener("htmx:beforeSwap", remember);
  root.addEventListener("htmx:afterSwap", restore);
  FAILURES.forEach((type) => root.addEventListener(type, fail, true));
  root.addEventListener("htmx:afterRequest", answered);
  root.addEventListener("visibilitychange", again);
  return () => {
    root.removeEventListener("htmx:beforeRequest", wait);
    root.removeEventListener("htmx:beforeSwap", remember);
    root.removeEventListener("htmx:afterSwap", restore);
    FAILURES.forEach((type) => root.removeEventListener(type, fail, true));
    root.removeEventListener("htmx:afterRequest", answered);
    root.removeEventListener("visibilitychange", again);
  };
}
