/**
 * The second look at the device that somebody came with: a tablet may call itself a desktop to the server. What is operated
 * by touch alone is a tablet, and a small one of these a phone.
 */

// A phone's screen is narrower than this, in CSS pixels, however it is held.
const PHONE = 600;

const note = document.getElementById("bad-device");
const usable = note?.dataset.usable?.split(" ") ?? [];
const isTouched = matchMedia("(any-pointer: coarse)").matches && !matchMedia("(any-pointer: fine)").matches;
const device = !isTouched ? "desktop" : Math.min(screen.width, screen.height) < PHONE ? "mobile" : "tablet";

// Whoever has a mouse was looked at by the server, which knows more of small windows.
if (note && isTouched && !usable.includes(device)) {
  note.hidden = false;
  document.getElementById("come-in")?.remove();
  document.getElementById("bad-device-title")?.focus();
}
