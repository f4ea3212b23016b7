/**
 * Starts every behaviour of the pages once. Each is `init(root) -> teardown` and listens on the root, so what HTMX swaps in
 * later works too. A page with scripts of its own loads them as further modules.
 */

import { init as charts } from "./charts.js";
import { init as copy } from "./copy.js";
import { init as dialogs } from "./dialogs.js";
import { init as errors } from "./errors.js";
import { init as menus } from "./menus.js";
import { init as polling } from "./polling.js";
import { init as requests } from "./requests.js";
import { init as sorting } from "./sort.js";
import { init as submitting } from "./submit.js";
import { init as theme } from "./theme.js";
import { init as toasts } from "./toasts.js";
import { init as uploads } from "./upload.js";

/** @param {Document} root @returns {() => void} undoes all of it */
export function init(root) {
  const teardowns = [theme, toasts, requests, submitting, sorting, copy, dialogs, menus, errors, uploads, charts, polling].map((start) =>
    start(root),
  );
  return () => teardowns.forEach((teardown) => teardown());
}

init(document);
