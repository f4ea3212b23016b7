/** The sidebar keeps its scroll position from page to page, the current page is in sight, and the drawer closes behind one. */

const KEY = "sidebar-position";

/** @param {Document} root @returns {() => void} */
export function init(root) {
  const sidebar = root.getElementById("sidebar");
  if (!sidebar) return () => {};
  const current = sidebar.querySelector("[aria-current]");
  const show = () => {
    sidebar.scrollTop = Number(sessionStorage.getItem(KEY) ?? 0);
    if (!current) return;
    // Not by `scrollIntoView`: the next Tab would then go on from there, past the link to the content.
    const [box, link] = [sidebar.getBoundingClientRect(), current.getBoundingClientRect()];
    sidebar.scrollTop += Math.min(0, link.top - box.top) + Math.max(0, link.bottom - box.bottom);
  };
  const remember = () => sessionStorage.setItem(KEY, String(sidebar.scrollTop));
  /** The drawer covers the page: whoever tabs out of it wants to see where they are. @param {FocusEvent} event */
  const leave = ({ relatedTarget }) => {
    const isOutside = relatedTarget instanceof Node && !sidebar.contains(relatedTarget);
    if (isOutside && sidebar.matches(":popover-open")) sidebar.hidePopover();
  };
  show();
  // On a phone it has no height before it is opened.
  sidebar.addEventListener("toggle", show);
  sidebar.addEventListener("scroll", remember, { passive: true });
  sidebar.addEventListener("focusout", leave);
  return () => {
    sidebar.removeEventListener("toggle", show);
    sidebar.removeEventListener("scroll", remember);
    sidebar.removeEventListener("focusout", leave);
  };
}
