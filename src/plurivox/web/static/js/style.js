// The style of a worker's pages travels inside the script: one request less before the page can be used.

export function applySheet() {
  if (typeof SHEET === "undefined") return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  document.adoptedStyleSheets = [sheet];
}
