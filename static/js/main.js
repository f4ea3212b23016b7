/**
 * Starts every behaviour of the pages once. Each is `init(root) -> teardown` and listens on the root, so what HTMX swaps in
 * later works too. A page with scripts of its own loads them as further modules.
 */

import { init as chartTips } from "./ui/chart-tips.js";
import { init as charts } from "./ui/charts.js";
import { init as copy } from "./ui/copy-buttons.js";
import { init as dialogs } from "./ui/dialogs.js";
import { init as errors } from "./ui/error-summary.js";
import { init as localTimes } from "./ui/local-times.js";
import { init as menus } from "./ui/menus.js";
import { init as polling } from "./ui/polling.js";
import { init as replies } from "./ui/saved-replies.js";
import { init as requests } from "./ui/request-errors.js";
import { init as shortNames } from "./ui/short-names.js";
import { init as sidebar } from "./ui/sidebar.js";
import { init as sorting } from "./ui/sortable-tables.js";
import { init as submitting } from "./ui/submit-once.js";
import { init as theme } from "./ui/theme.js";
import { init as toasts } from "./ui/toasts.js";
import { init as uploads } from "./ui/file-drop.js";

/** @param {Document} root @returns {() => void} undoes all of it */
export function init(root) {
  const teardowns = [theme, toasts, requests, submitting, sorting, copy, dialogs, menus, errors, uploads, charts, chartTips, polling, sidebar, replies, shortNames, localTimes].map((start) =>
    start(root),
  );
  return () => teardowns.forEach((teardown) => teardown());
}

init(document);
