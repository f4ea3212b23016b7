/**
 * HTMX requests that fail say so, with what to do; nothing is lost silently and no button stays blocked.
 */

import { all } from "./event-delegation.js";
import { toast } from "./toasts.js";

/** @type {Record<number, string>} */
const CURES = {
  400: "The server could not read this. Load the page again and try once more.",
  403: "This is not allowed, or the page is out of date. Load it again; if that does not help, ask an owner of the study.",
  404: "What this was about is gone. Load the page again.",
  409: "Somebody else was faster. Load the page again to see how it stands now.",
  413: "This is too large for the server. Send less at once.",
  429: "That was too often. Wait a minute and try again.",
  503: "The server is busy or being restarted. Try again in a minute.",
};

/**
 * Say what a failed request means to the reader.
 * @param {number} status
 * @returns {string}
 */
export function cure(status) {
  return CURES[status] ?? (status >= 500 ? "Something broke on our side. Nothing was changed; try again in a minute." : `It did not work (${status}). Load the page again.`);
}

/** @param {string} responseUrl @returns {boolean} whether the server asked to sign in instead of answering */
function isLogin(responseUrl) {
  const login = document.body.dataset.login;
  return Boolean(login && responseUrl && new URL(responseUrl, location.href).pathname === login && location.pathname !== login);
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @type {[string, (event: any) => void][]} */
  const listeners = [
    ["htmx:responseError", (event) => toast(event.detail.xhr.getResponseHeader("X-Problem") ?? cure(event.detail.xhr.status), "bad")],
    ["htmx:sendError", () => toast("The server cannot be reached. Nothing was changed; check the connection and try again.", "bad")],
    ["htmx:timeout", () => toast("The server took too long to answer. Load the page again to see whether it was done.", "bad")],
    [
      "htmx:beforeSwap",
      (event) => {
        if (!isLogin(event.detail.xhr.responseURL)) return;
        event.detail.shouldSwap = false;
        const href = `${document.body.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
        toast("You are signed out by now, so nothing was changed.", "bad", { href, label: "Sign in again" });
      },
    ],
  ];
  for (const [type, listener] of listeners) root.addEventListener(type, listener);
  return all(...listeners.map(([type, listener]) => () => root.removeEventListener(type, listener)));
}
