/**
 * Charts are pictures with a light and a dark source (docs/ui.md). The system's theme picks one by itself;
 * the reader's own choice overrides it here. A source with data-screen is for such screens alone, one with data-light
 * for a light theme, or for any where no dark one before it holds.
 */

import { all, whenLoaded } from "./event-delegation.js";

/** @param {Document | HTMLElement} root */
function match(root) {
  const theme = document.documentElement.dataset.theme;
  const media = theme === "dark" ? "all" : theme === "light" ? "not all" : "(prefers-color-scheme: dark)";
  for (const source of root.querySelectorAll("picture[data-themed] > source:not([data-light])")) {
    if (!(source instanceof HTMLSourceElement)) continue;
    const wanted = source.dataset.screen ? onScreen(source.dataset.screen, media) : media;
    if (source.media !== wanted) source.media = wanted;
  }
}

/** @param {string} screen @param {string} media @returns {string} */
function onScreen(screen, media) {
  if (media === "all") return screen;
  return media === "not all" ? media : `${screen} and ${media}`;
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  const listener = () => match(root);
  root.addEventListener("crowdrag:theme", listener);
  return all(whenLoaded(root, match), () => root.removeEventListener("crowdrag:theme", listener));
}
