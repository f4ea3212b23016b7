/** What happens around the text: focus, visibility, scrolling, the window's size, the device's clock. */

const OWN_TEXT = -1;
const ELSEWHERE = -2;
/** Scrolling and resizing are told when they have rested for this long, in milliseconds. */
const REST = 400;
const BEAT = 1000;

/**
 * @param {HTMLTextAreaElement} field
 * @param {import("./recorder.js").Record} record
 * @param {() => number} jumped by how much the device's clock moved, see clock.js
 * @param {AbortSignal} signal
 */
export function watch(field, record, jumped, signal) {
  let focus = true;
  const focused = () => {
    if (focus === document.hasFocus()) return;
    focus = !focus;
    record("f", Number(focus));
  };
  let visible = true;
  const seen = () => {
    if (visible === (document.visibilityState === "visible")) return;
    visible = !visible;
    record("v", Number(visible));
  };
  const clock = () => {
    const moved = jumped();
    if (moved) record("j", moved);
  };
  const woken = () => {
    clock();
    seen();
    focused();
  };
  woken();
  window.addEventListener("focus", woken, { signal });
  // The focus has not gone yet while its going is told.
  window.addEventListener("blur", () => setTimeout(focused), { signal });
  document.addEventListener("visibilitychange", woken, { signal });
  window.addEventListener("pageshow", woken, { signal });

  const sized = rested(() => record("z", innerWidth, innerHeight));
  window.addEventListener("resize", () => sized(window), { signal });
  const scrolled = rested((target) => {
    if (target instanceof Node) record("w", placeOf(target, field), percentOf(target));
  });
  document.addEventListener("scroll", (event) => scrolled(event.target), { signal, capture: true, passive: true });
  const beat = setInterval(clock, BEAT);
  signal.addEventListener("abort", () => clearInterval(beat));
}

/**
 * Do something with each target once it has had some rest.
 * @param {(target: EventTarget | null) => void} act
 * @returns {(target: EventTarget | null) => void}
 */
function rested(act) {
  /** @type {Map<EventTarget | null, ReturnType<typeof setTimeout>>} */
  const waiting = new Map();
  return (target) => {
    if (waiting.has(target)) clearTimeout(waiting.get(target));
    const timer = setTimeout(() => {
      waiting.delete(target);
      act(target);
    }, REST);
    waiting.set(target, timer);
  };
}

/** @param {Node} target @param {HTMLTextAreaElement} field @returns {number} */
function placeOf(target, field) {
  if (target === field) return OWN_TEXT;
  if (!(target instanceof HTMLElement)) return ELSEWHERE;
  const inside = target.closest("[data-rank]");
  if (inside instanceof HTMLElement) return Number(inside.dataset.rank);
  // A list of passages: the first that is not above its edge.
  const edge = target.getBoundingClientRect().top;
  for (const passage of target.querySelectorAll("[data-rank]")) {
    if (passage instanceof HTMLElement && passage.getBoundingClientRect().bottom > edge) return Number(passage.dataset.rank);
  }
  return ELSEWHERE;
}

/** @param {Node} target @returns {number} how far it is scrolled, in whole percent */
function percentOf(target) {
  const element = target instanceof Element ? target : (document.scrollingElement ?? document.documentElement);
  const way = element.scrollHeight - element.clientHeight;
  return way > 0 ? Math.min(100, Math.max(0, Math.round((100 * element.scrollTop) / way))) : 0;
}
