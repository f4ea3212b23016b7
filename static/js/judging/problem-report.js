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

  for (const opener of document.querySelectorAll("button[data-reports]")) {
    opener.addEventListener("click", () => {
      item = Number(opener.getAttribute("data-reports"));
      text.value = kept.read(`report-${item}`) ?? "";
      state.textContent = "";
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
      const sent = document.querySelector(`[data-reported="${about}"]`);
      if (sent) sent.textContent = say("report.sent");
      return;
    }
    state.textContent = status === 400 && body.message ? body.message : say("report.failed");
  });
}
