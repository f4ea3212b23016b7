/** The last step: what is open is listed with the way to it; handed in is what the server has acknowledged, all of it. */

import { byId, debounced, make } from "../ui/dom.js";
import { postAsWriter as post } from "../editor/log/requests.js";
import { Backoff, Wake } from "../editor/log/sleep.js";
import { announce, say } from "../ui/script-messages.js";

const name = document.body.dataset.name ?? "";

/**
 * @param {import("./items.js").Items} items
 * @param {import("./outbox.js").Outbox} outbox
 * @param {import("./viewing-times.js").Times} times
 * @param {import("./local-store.js").Kept} kept
 */
export function start(items, outbox, times, kept) {
  const form = byId("finish-form", HTMLFormElement);
  const button = byId("hand-in", HTMLButtonElement);
  const words = byId("finish-words", HTMLElement);
  const list = byId("missing", HTMLElement);
  const state = byId("finish-state", HTMLElement);
  const comment = document.getElementById("comment");
  let handing = false;

  if (comment instanceof HTMLTextAreaElement) {
    comment.value ||= kept.read("comment") ?? "";
    const keep = debounced(() => kept.keep("comment", comment.value || null), 400);
    comment.addEventListener("input", keep);
    comment.addEventListener("blur", keep.flush);
  }

  let told = "";
  const tell = () => {
    const open = items.questions.filter((question) => !question.isComplete);
    // Told again whenever something was saved: what says the same stays, with the focus that is on it.
    const telling = open.map((question) => question.key).join(" ");
    if (telling === told && words.textContent) return open;
    told = telling;
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    words.textContent = open.length ? say("finish.open", { n: open.length }) : say("finish.ready");
    const numbers = [...new Set(open.map((question) => question.number))];
    list.replaceChildren(
      ...numbers.map((number) => {
        const n = open.filter((question) => question.number === number).length;
        const text = say("finish.of", { name, number, n });
        const link = make("a", { text, attributes: { href: `#item-${number}` } });
        link.addEventListener("click", (event) => {
          event.preventDefault();
          event.stopPropagation();
          items.go(number - 1, open.find((question) => question.number === number));
        });
        return make("li", {}, link);
      }),
    );
    const links = [...list.querySelectorAll("a")];
    if (focused) (links.find((link) => link.getAttribute("href") === focused) ?? links[0] ?? button).focus();
    return open;
  };
  items.watch((shown) => {
    if (shown === items.finish) tell();
  });

  /** @returns {Promise<void>} sends until there is an answer */
  const handIn = async () => {
    const backoff = new Backoff();
    const wake = new Wake();
    addEventListener("online", () => wake.wake());
    for (;;) {
      const { status, body } = await post(form.action, { comment: comment instanceof HTMLTextAreaElement ? comment.value : "" });
      const next = typeof body.next === "string" && body.next.startsWith("/") && !body.next.startsWith("//") ? body.next : "";
      if ((status === 200 || status === 409 || status === 403) && next) {
        if (status === 200) kept.clear();
        location.assign(next);
        return;
      }
      if (status === 422) {
        // Something was taken back elsewhere: the page as the server has it says what is open.
        location.reload();
        return;
      }
      state.textContent = say(status === 403 ? "save.expired.more" : "finish.waits");
      await wake.sleep(backoff.next());
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (handing) return;
    const open = tell();
    if (open.length) {
      for (const question of open) question.element.classList.add("is-wanted");
      const text = say("finish.unfinished", { n: open.length, name, number: open[0].number });
      open[0].tell(text);
      items.go(open[0].number - 1, open[0]);
      open[0].element.scrollIntoView({ block: "nearest" });
      announce(text);
      return;
    }
    handing = true;
    button.setAttribute("aria-busy", "true");
    state.textContent = say("finish.sending");
    const settled = await outbox.settled();
    if (settled) {
      state.textContent = say("finish.handing");
      // Times are no answers: they do not hold anybody up.
      await Promise.race([times.tell(), new Promise((resolve) => setTimeout(resolve, 3000))]);
      await handIn();
    }
    handing = false;
    button.removeAttribute("aria-busy");
  });
  return tell;
}
