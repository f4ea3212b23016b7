/**
 * A phone's keyboard leaves a strip of the screen: while somebody writes there, the strip is the text's. Browsers that lay
 * the page out anew for the keyboard (interactive-widget in the template) and those that only tell of it (Safari) are
 * treated alike, by the height that can be seen.
 */

import { byId } from "../ui/dom.js";
import { oneAtATime } from "./panes.js";

// As in editor-small.css: a screen this low has no room for more than the text.
const LOW = "30rem";
// A press that takes the focus away from the text must still find the button where it was.
const PRESS = 300;

const text = byId("text", HTMLTextAreaElement);

export function start() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const low = parseFloat(LOW) * rem;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let leaving;
  const apply = () => {
    const height = window.visualViewport ? window.visualViewport.height * window.visualViewport.scale : innerHeight;
    const writes = document.activeElement === text && oneAtATime() && height <= low;
    document.body.classList.toggle("is-typing", writes);
    document.body.style.setProperty("--seen", `${Math.round(height)}px`);
    // Safari moves the page up behind its keyboard; everything fits now.
    if (writes) scrollTo(0, 0);
  };
  const soon = () => {
    clearTimeout(leaving);
    leaving = setTimeout(apply, PRESS);
  };
  text.addEventListener("focus", apply);
  text.addEventListener("blur", soon);
  window.visualViewport?.addEventListener("resize", () => (document.activeElement === text ? apply() : soon()));
  addEventListener("resize", () => (document.activeElement === text ? apply() : soon()));
}
