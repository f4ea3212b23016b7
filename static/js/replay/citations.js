/** A citation pointed at or focused shows its passage beside the text; pressed on a narrow screen, below the text. */

import { all, delegate } from "../ui/event-delegation.js";

/** @param {HTMLElement} link @returns {HTMLElement | null} the passage that a marker names */
function passageOf(link) {
  const id = link.getAttribute("href")?.slice(1) ?? "";
  return document.getElementById(id);
}

/** @param {Document} root @param {{reveal: (item: HTMLElement) => void}} passages @returns {() => void} */
export function init(root, passages) {
  const peek = root.querySelector("[data-cite-peek]");
  const clear = () => root.querySelectorAll(".is-active").forEach((element) => element.classList.remove("is-active"));
  /** @param {HTMLElement} link */
  const point = (link) => {
    clear();
    const passage = passageOf(link);
    for (const element of [link, link.closest(".statement"), passage]) element?.classList.add("is-active");
    if (passage) passages.reveal(passage);
  };
  /** @param {HTMLElement} link @param {MouseEvent} event */
  const press = (link, event) => {
    const passage = passageOf(link);
    if (!passage || !(peek instanceof HTMLElement)) return;
    event.preventDefault();
    point(link);
    const beside = Math.abs(passage.getBoundingClientRect().left - link.getBoundingClientRect().left) > 200;
    if (beside) {
      passage.focus({ preventScroll: true });
      return;
    }
    const text = passage.querySelector(".passage-text")?.textContent ?? "";
    const same = !peek.hidden && peek.dataset.of === passage.id;
    peek.hidden = same;
    peek.dataset.of = passage.id;
    const name = document.createElement("strong");
    name.textContent = `${link.textContent} `;
    peek.replaceChildren(name, text);
  };
  return all(
    delegate(root, "mouseover", ".cite", point),
    delegate(root, "focusin", ".cite", point),
    delegate(root, "click", ".cite", press),
  );
}
