/** Times in the reader's own zone and manner. */

/** @param {Element} element */
function local(element) {
  const when = new Date(element.getAttribute("datetime") ?? "");
  if (Number.isNaN(when.getTime())) return;
  const today = new Date().toDateString() === when.toDateString();
  const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const date = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  element.textContent = (today ? time : date).format(when);
  element.setAttribute("title", when.toLocaleString());
}

export function start() {
  for (const element of document.querySelectorAll("time[datetime]")) local(element);
}
