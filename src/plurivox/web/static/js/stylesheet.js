// Apply the style sheet of the worker's pages, which the server puts into the script to save a request.

export function applySheet() {
  if (typeof SHEET === "undefined") return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  document.adoptedStyleSheets = [sheet];
}
