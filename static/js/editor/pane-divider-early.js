// Runs before the first paint, as a classic script in <head>: the text has the width that its writer gave it, so that nothing moves.
(() => {
  try {
    const share = Number(localStorage.getItem("crowdrag-editor-share"));
    if (share) document.documentElement.style.setProperty("--text-share", String(share));
  } catch {
    // Storage may be forbidden; then both have their usual widths.
  }
})();
