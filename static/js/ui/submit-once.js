/** A form is sent once: the pressed button turns and takes no second press, until the page is shown again. */

import { all } from "./event-delegation.js";

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
    if (event.submitter instanceof HTMLElement) {
      event.submitter.setAttribute("aria-busy", "true");
      event.submitter.dataset.sent = "yes";
    }
  };
  // Back from the next page, the browser may show this one as it was left.
  const shown = () => {
    for (const element of root.querySelectorAll("[data-sent]")) {
      if (!(element instanceof HTMLElement)) continue;
      delete element.dataset.sent;
      element.removeAttribute("aria-busy");
    }
  };
  root.addEventListener("submit", sent);
  window.addEventListener("pageshow", shown);
  return all(
    () => root.removeEventListener("submit", sent),
    () => window.removeEventListener("pageshow", shown),
  );
}
