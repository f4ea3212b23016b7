/** Forms that upload: says how much of the files has been sent. HTMX tells; without scripts the form is a plain one. */

import { all, delegate } from "./event-delegation.js";

/** @param {HTMLElement} form @param {boolean} shown */
function show(form, shown) {
  const box = form.querySelector("[data-upload-progress]");
  if (box instanceof HTMLElement) box.hidden = !shown;
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return all(
    delegate(root, /** @type {any} */ ("htmx:beforeRequest"), "[data-upload]", (form) => show(form, true)),
    delegate(root, /** @type {any} */ ("htmx:afterRequest"), "[data-upload]", (form) => show(form, false)),
    delegate(root, /** @type {any} */ ("htmx:xhr:progress"), "[data-upload]", (form, event) => {
      const { loaded, total, lengthComputable } = event.detail;
      if (!lengthComputable || !total) return;
      const percent = Math.floor((100 * loaded) / total);
      const bar = form.querySelector("[data-upload-progress] progress");
      const figure = form.querySelector("[data-upload-figure]");
      if (bar instanceof HTMLProgressElement) bar.value = percent;
      if (figure) figure.textContent = `${percent} %`;
    }),
  );
}

init(document);
