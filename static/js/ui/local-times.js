/** Times in the reader's own zone. */

/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const NEAR = 6 * 3_600_000;

/** @param {Date} when @param {Intl.DateTimeFormatOptions} parts */
function format(when, parts) {
  const language = document.documentElement.lang;
  return when.toLocaleString(language === "en" ? "en-GB" : language, { ...parts, ...CLOCK });
}

/** @param {Date} when @returns {string} the time, with the day unless it is today or near */
export function shortTime(when) {
  const now = new Date();
  const isClear = when.toDateString() === now.toDateString() || Math.abs(when.getTime() - now.getTime()) < NEAR;
  return format(when, isClear ? {} : { day: "numeric", month: "short" });
}

/** @param {Date} when @returns {string} the date and the time, with the name of the zone */
export function fullTime(when) {
  return format(when, { day: "numeric", month: "short", year: "numeric", timeZoneName: "short" });
}

/** @param {Document} root */
export function init(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const when = new Date(element.getAttribute("datetime") ?? "");
    if (!Number.isNaN(when.getTime())) element.textContent = fullTime(when);
  }
  return () => {};
}
