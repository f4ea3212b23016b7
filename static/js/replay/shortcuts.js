/**
 * Single keys, for who reviews many responses. They can be switched off (WCAG 2.1.4), and never act while one writes, in a
 * dialog, or with Ctrl, Alt or Meta.
 */

const KEPT = "replay-keys";

/** @returns {boolean} */
function wanted() {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
}

/** @param {EventTarget | null} target */
function writes(target) {
  return target instanceof Element && target.closest("textarea, select, input:not([type=radio], [type=checkbox], [type=range]), [contenteditable]") !== null;
}

/**
 * @param {Document} root
 * @param {Record<string, (event: KeyboardEvent) => void>} actions by key, as `KeyboardEvent.key`, letters in lower case
 * @returns {() => void}
 */
export function listen(root, actions) {
  const box = root.querySelector("[data-replay-keys]");
  if (box instanceof HTMLInputElement) {
    box.checked = wanted();
    box.addEventListener("change", () => {
      try {
        localStorage.setItem(KEPT, box.checked ? "on" : "off");
      } catch {
        // A browser that keeps nothing forgets the choice, no more.
      }
    });
  }
  const on = () => (box instanceof HTMLInputElement ? box.checked : wanted());
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (!on() || writes(event.target) || root.querySelector("dialog[open]")) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  };
  root.addEventListener("keydown", pressed);
  return () => root.removeEventListener("keydown", pressed);
}
