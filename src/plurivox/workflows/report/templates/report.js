// Sorting and filtering of tables, copying, the colours of the page, and texts under the pointer. The page is complete without it.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const countText = (n) => n.toLocaleString("en-US");

  // ---- colours: those of the system, or the others if the reader chose them

  const themeKey = "plurivox-report-colours";
  const darkSystem = matchMedia("(prefers-color-scheme: dark)");
  let chosenTheme = storedTheme();

  function storedTheme() {
    try {
      const found = localStorage.getItem(themeKey);
      return ["light", "dark"].includes(found) ? found : null;
    } catch {
      return null; // browsers may forbid storage for pages opened from a file
    }
  }

  function storeTheme() {
    try {
      if (chosenTheme) localStorage.setItem(themeKey, chosenTheme);
      else localStorage.removeItem(themeKey);
    } catch {
      return; // the choice then holds until the page is closed
    }
  }

  const isDark = () => (chosenTheme ? chosenTheme === "dark" : darkSystem.matches);
  const mediaOfDark = { dark: "screen", light: "not all" };
  const applyTheme = () => (document.getElementById("pv-dark").media = mediaOfDark[chosenTheme] ?? `screen and ${darkSystem.media}`);

  function setUpTheme() {
    const button = document.getElementById("pv-theme");
    const show = () => {
      applyTheme();
      button.textContent = isDark() ? "Light colours" : "Dark colours";
    };
    button.addEventListener("click", () => {
      const wanted = isDark() ? "light" : "dark";
      chosenTheme = wanted === (darkSystem.matches ? "dark" : "light") ? null : wanted;
      storeTheme();
      show();
    });
    darkSystem.addEventListener("change", show);
    button.hidden = false;
    show();
  }

  // ---- tables

  const sortKey = (row, column, isOfNumbers) => {
    const cell = row.cells[column];
    if (!cell || cell.classList.contains("missing")) return null;
    if (cell.dataset.v) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    const number = isOfNumbers ? Number(text.replace(/[,%]/g, "").replace("−", "-")) : NaN;
    return Number.isNaN(number) ? text : number;
  };
  const collator = new Intl.Collator(undefined, { numeric: true });

  function compare(a, b) {
    // Numbers before texts.
    if (typeof a === "number" && typeof b === "number") return a === b ? 0 : a < b ? -1 : 1;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return collator.compare(a, b);
  }

  function sortRows(table, column, descending) {
    const body = table.tBodies[0];
    const isOfNumbers = table.tHead.rows[0].cells[column].classList.contains("num");
    const keyed = [...body.rows].map((row) => [sortKey(row, column, isOfNumbers), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // missing values last in both directions
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...keyed.map(([, row]) => row));
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
  }

  function setUpSorting(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button", textContent: head.textContent });
      if (head.dataset.meaning) button.setAttribute("aria-describedby", head.dataset.meaning);
      button.addEventListener("click", () => {
        const sorted = head.getAttribute("aria-sort");
        const largestFirst = head.classList.contains("num"); // of numbers, the largest are of interest
        sortRows(table, column, sorted ? sorted === "ascending" : largestFirst);
      });
      head.replaceChildren(button);
    });
  }

  function setUpFilter(box) {
    const input = box.querySelector("input");
    const output = box.querySelector("output");
    const rows = [...document.getElementById(input.getAttribute("aria-controls")).rows];
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()).join("\n"));
    const table = rows[0].closest("table");
    input.addEventListener("input", () => {
      const sought = input.value.trim().toLowerCase();
      if (!sought) table.style.minWidth = "";
      else table.style.minWidth ||= `${table.offsetWidth}px`; // columns keep their widths while rows are hidden
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !texts[at].includes(sought);
        shown += !row.hidden;
      });
      output.textContent = sought ? `${countText(shown)} of ${countText(rows.length)} rows` : `${countText(rows.length)} rows`;
    });
    box.hidden = false;
  }

  // Only a box that scrolls is a stop of the Tab key and a region.
  function setUpScrolling(box) {
    const name = box.getAttribute("aria-labelledby");
    const update = () => {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      const attributes = { tabindex: "0", role: "region", "aria-labelledby": name };
      for (const [key, value] of Object.entries(attributes)) {
        if (scrolls) box.setAttribute(key, value);
        else box.removeAttribute(key);
      }
    };
    const observer = new ResizeObserver(update);
    observer.observe(box);
    observer.observe(box.firstElementChild);
  }

  // ---- copying

  async function copyText(element) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(element); // no clipboard for pages opened from a file: copy what is selected
      return document.execCommand("copy");
    }
  }

  function setUpCopying(button) {
    let timer = 0;
    button.addEventListener("click", async () => {
      const copied = await copyText(button.previousElementSibling);
      const status = document.getElementById("pv-status");
      button.textContent = status.textContent = copied ? "Copied" : "Selected";
      clearTimeout(timer);
      timer = setTimeout(() => {
        button.textContent = "Copy";
        status.textContent = "";
      }, 2000);
    });
    button.hidden = false;
  }

  // ---- texts under the pointer: names of marks in pictures, meanings of columns

  function setUpTips() {
    const tip = document.getElementById("pv-tip");
    let silenced = null; // the mark whose own title is empty meanwhile, so that the browser shows no second text
    const hide = () => {
      tip.hidden = true;
      if (silenced) silenced.title.textContent = silenced.text;
      silenced = null;
    };
    const show = (text, x, y) => {
      tip.textContent = text;
      tip.hidden = false;
      const { width, height } = tip.getBoundingClientRect();
      const above = y + 18 + height > innerHeight;
      tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 4))}px`;
      tip.style.top = `${Math.max(4, above ? y - height - 8 : y + 18)}px`;
    };
    const meaning = (target) => {
      const id = target.closest("thead button")?.getAttribute("aria-describedby");
      return id ? document.getElementById(id).textContent : "";
    };
    const point = (event) => {
      const target = event.target instanceof Element ? event.target : document.body;
      const mark = target.closest(".drawing svg *");
      const title = mark && [...mark.children].find((one) => one.localName === "title");
      if (silenced?.title === title && title) return show(silenced.text, event.clientX, event.clientY);
      hide();
      if (title) {
        silenced = { title, text: title.textContent };
        title.textContent = "";
        show(silenced.text, event.clientX, event.clientY);
      } else if (meaning(target)) show(meaning(target), event.clientX, event.clientY);
    };
    for (const name of ["pointermove", "pointerdown"]) document.addEventListener(name, point);
    for (const name of ["scroll", "pointerleave", "focusout"]) document.addEventListener(name, hide, true);
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
    document.addEventListener("focusin", (event) => {
      if (!event.target.matches(":focus-visible") || !meaning(event.target)) return;
      const { left, bottom } = event.target.getBoundingClientRect();
      show(meaning(event.target), left, bottom - 10);
    });
  }

  // ---- pictures that the window makes smaller

  function setUpEnlarging(drawing) {
    const button = make("button", { type: "button", className: "button", hidden: true });
    const name = drawing.closest("figure").querySelector("h3")?.textContent ?? "this picture";
    const natural = Number(drawing.firstElementChild.getAttribute("width"));
    const show = () => {
      const large = drawing.classList.contains("large");
      button.textContent = large ? "Fit to the window" : "Enlarge";
      button.setAttribute("aria-label", `${button.textContent}: ${name}`);
      button.hidden = !large && drawing.clientWidth > 0.85 * natural;
      if (large) Object.assign(drawing, { tabIndex: 0, role: "region", ariaLabel: name });
      else ["tabindex", "role", "aria-label"].forEach((one) => drawing.removeAttribute(one));
    };
    button.addEventListener("click", () => {
      drawing.classList.toggle("large");
      show();
    });
    drawing.after(button);
    new ResizeObserver(show).observe(drawing);
  }

  // ---- contents

  function setUpContents(contents) {
    const details = contents.querySelector("details");
    const wide = matchMedia("(min-width: 68rem)");
    const fold = () => (details.open = wide.matches);
    wide.addEventListener("change", fold);
    fold();
    contents.addEventListener("click", (event) => {
      if (event.target.closest("a") && !wide.matches) details.open = false;
    });
    const links = new Map(all("a", contents).map((link) => [document.getElementById(link.hash.slice(1)), link]));
    const mark = () => {
      const passed = [...links.keys()].filter((one) => one.getBoundingClientRect().top < innerHeight / 3);
      const atEnd = scrollY > 0 && innerHeight + scrollY >= document.body.scrollHeight - 4;
      const current = atEnd ? [...links.keys()].pop() : passed.pop();
      for (const [section, link] of links) {
        if (section === current) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      }
    };
    let asked = 0;
    addEventListener("scroll", () => {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(mark);
    });
    mark();
  }

  // ---- printing: everything is open but labels of little probability

  function setUpPrinting() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = all("details:not([open], .minor)");
      for (const one of opened) one.open = true;
    });
    addEventListener("afterprint", () => {
      for (const one of opened) one.open = false;
    });
  }

  applyTheme(); // before anything is shown
  document.addEventListener("DOMContentLoaded", () => {
    setUpTheme();
    all(".scroll table").forEach(setUpSorting);
    all(".scroll").forEach(setUpScrolling);
    all(".filter").forEach(setUpFilter);
    all(".copy .button").forEach(setUpCopying);
    all(".drawing").forEach(setUpEnlarging);
    all(".contents").forEach(setUpContents);
    setUpTips();
    setUpPrinting();
  });
})();
