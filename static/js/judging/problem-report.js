/** A problem with the item that is shown: a dialog whose text is kept in this browser until the researchers have it. */

import { postAsWriter as post } from "../editor/log/requests.js";
import { byId } from "../ui/dom.js";
import { announce, say } from "../ui/script-messages.js";

/**
 * @param {string} url
 * @param {import("./local-store.js").Kept} kept
 */
export function start(url, kept) {
  const dialog = byId("report", HTMLDialogElement);
  const form = byId("report-form", HTMLFormElement);
  const text = byId("report-text", HTMLTextAreaElement);
  const state = byId("report-state", HTMLElement);
  const button = byId("report-send", HTMLButtonElement);
  let item = 0;
  let isSending = false;

  /** Show below the item, until its problem is reported again, that the message was sent. @param {number} about @param {string} words */
  const confirm = (about, words) => {
    const note = document.querySelector(`[data-reported="${about}"]`);
    const place = note?.querySelector("p");
    if (!(note instanceof HTMLElement) || !place) return;
    place.textContent = words;
    note.hidden = !words;
    if (words) note.scrollIntoView({ block: "nearest" });
  };

  for (const opener of document.querySelectorAll("button[data-reports]")) {
    opener.addEventListener("click", () => {
      item = Number(opener.getAttribute("data-reports"));
      text.value = kept.read(`report-${item}`) ?? "";
      state.textContent = "";
      confirm(item, "");
      dialog.showModal();
      text.focus();
    });
  }
  text.addEventListener("input", () => kept.keep(`report-${item}`, text.value || null));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSending || !text.reportValidity()) return;
    const about = item;
    isSending = true;
    button.setAttribute("aria-busy", "true");
    state.textContent = say("report.sending");
    const { status, body } = await post(url, { item: about, text: text.value });
    isSending = false;
    button.removeAttribute("aria-busy");
    if (status === 200) {
      kept.keep(`report-${about}`, null);
      dialog.close();
      announce(say("report.sent"));
      confirm(about, say("report.sent"));
      return;
    }
    state.textContent = status === 400 && body.message ? body.message : say("report.failed");
  });
}
