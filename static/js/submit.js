/** A form is sent once: the pressed button turns and takes no second press, until the page is shown again. */

import { all } from "./listen.js";

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @param {SubmitEvent} event */
  const sent = (event) => {
    const form = event.target;
    // HTMX cancels the submission and marks its own requests; a download leaves the page standing.
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented || form.method === "dialog" || "again" in form.dataset) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    if (form.method !== "post") return;
    form.dataset.sent = "yes";
    event.submitter?.setAttribute("aria-busy", "true");
  };
  // Back from the next page, the browser may show this one as it was left.
  const shown = () => {
    for (const form of root.querySelectorAll("form[data-sent]")) if (form instanceof HTMLFormElement) delete form.dataset.sent;
    for (const button of root.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
  };
  root.addEventListener("submit", sent);
  window.addEventListener("pageshow", shown);
  return all(
    () => root.removeEventListener("submit", sent),
    () => window.removeEventListener("pageshow", shown),
  );
}
