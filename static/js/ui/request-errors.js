/**
 * HTMX requests that fail say so, with what to do; nothing is lost silently and no button stays blocked. Pages in
 * another language than English have one message for all failures, in `data-request-failed` of their body.
 */

import { all } from "./event-delegation.js";
import { toast } from "./toasts.js";

/** @type {Record<number, string>} */
const CURES = {
  400: "The server could not read this request. Reload the page and try again.",
  403: "This is not allowed, or the page is out of date. Reload the page. If that does not help, ask an owner of the study.",
  404: "This item no longer exists. Reload the page.",
  409: "Someone else changed this at the same time. Reload the page to see the current state.",
  413: "This request is too large for the server. Send less at once.",
  429: "Too many requests. Wait a minute and try again.",
  503: "The server is busy or restarting. Try again in a minute.",
};

/**
 * Say what a failed request means to the reader.
 * @param {number} status
 * @returns {string}
 */
export function cure(status) {
  return CURES[status] ?? (status >= 500 ? "Server error. Nothing was changed. Try again in a minute." : `The request did not work (${status}). Reload the page.`);
}

/** @param {string} responseUrl @returns {boolean} whether the server asked to sign in instead of answering */
function isLogin(responseUrl) {
  const login = document.body.dataset.login;
  return Boolean(login && responseUrl && new URL(responseUrl, location.href).pathname === login && location.pathname !== login);
}

/** @param {string} text in English */
function fail(text) {
  toast(document.body.dataset.requestFailed ?? text, "bad");
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @type {[string, (event: any) => void][]} */
  const listeners = [
    ["htmx:responseError", (event) => fail(event.detail.xhr.getResponseHeader("X-Problem") ?? cure(event.detail.xhr.status))],
    ["htmx:sendError", () => fail("We cannot reach the server. Nothing was changed. Check your connection and try again.")],
    ["htmx:timeout", () => fail("The server took too long to answer. Reload the page to see whether it worked.")],
    [
      "htmx:beforeSwap",
      (event) => {
        if (!isLogin(event.detail.xhr.responseURL)) return;
        event.detail.shouldSwap = false;
        const href = `${document.body.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
        toast("You were signed out, so nothing was changed.", "bad", { href, label: "Sign in again" });
      },
    ],
  ];
  for (const [type, listener] of listeners) root.addEventListener(type, listener);
  return all(...listeners.map(([type, listener]) => () => root.removeEventListener(type, listener)));
}
