/** Times in the reader's own zone, in one format on all pages. */

/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const NEAR = 6 * 3_600_000;

/** @param {Date} when @param {Intl.DateTimeFormatOptions} parts */
function format(when, parts) {
  const language = document.documentElement.lang;
  return when.toLocaleString(language === "en" ? "en-GB" : language, { ...parts, ...CLOCK });
}

/** @param {Date} when @returns {string} the time, with its day unless that is today or the time is near: 00:30 in an hour */
export function shortTime(when) {
  const now = new Date();
  const isClear = when.toDateString() === now.toDateString() || Math.abs(when.getTime() - now.getTime()) < NEAR;
  return format(when, isClear ? {} : { day: "numeric", month: "short" });
}

/** @param {Date} when @returns {string} the date and the time, with the name of the zone */
export function fullTime(when) {
  return format(when, { day: "numeric", month: "short", year: "numeric", timeZoneName: "short" });
}

/** @param {Document} root shows what the server wrote in its zone in the reader's; a page gets all of these at once */
export function init(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const when = new Date(element.getAttribute("datetime") ?? "");
    if (!Number.isNaN(when.getTime())) element.textContent = fullTime(when);
  }
  return () => {};
}
