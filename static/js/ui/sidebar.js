/** The sidebar keeps its scroll position from page to page, and the current page is always in sight. */

const KEY = "sidebar-position";

/** @param {Document} root @returns {() => void} */
export function init(root) {
  const sidebar = root.getElementById("sidebar");
  if (!sidebar) return () => {};
  const current = sidebar.querySelector("[aria-current]");
  const show = () => {
    sidebar.scrollTop = Number(sessionStorage.getItem(KEY) ?? 0);
    current?.scrollIntoView({ block: "nearest" });
  };
  const remember = () => sessionStorage.setItem(KEY, String(sidebar.scrollTop));
  show();
  // On a phone it has no height before it is opened.
  sidebar.addEventListener("toggle", show);
  sidebar.addEventListener("scroll", remember, { passive: true });
  return () => {
    sidebar.removeEventListener("toggle", show);
    sidebar.removeEventListener("scroll", remember);
  };
}
