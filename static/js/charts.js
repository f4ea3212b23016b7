/**
 * Charts are pictures with a light and a dark source (docs/face.md). The system's theme picks one by itself;
 * the reader's own choice overrides it here.
 */

import { all, whenLoaded } from "./listen.js";

/** @param {Document | HTMLElement} root */
function match(root) {
  const theme = document.documentElement.dataset.theme;
  const media = theme === "dark" ? "all" : theme === "light" ? "not all" : "(prefers-color-scheme: dark)";
  for (const source of root.querySelectorAll("picture[data-themed] > source")) {
    if (source instanceof HTMLSourceElement && source.media !== media) source.media = media;
  }
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  const listener = () => match(root);
  root.addEventListener("crowdrag:theme", listener);
  return all(whenLoaded(root, match), () => root.removeEventListener("crowdrag:theme", listener));
}
