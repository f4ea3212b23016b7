// Runs before the first paint, as a classic script in <head>: sets the reader's theme and says that scripts run.
// The same key is used in theme.js.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("crowdrag-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; then the system's theme holds.
  }
})();
