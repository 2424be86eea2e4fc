"""What the page of every report must do in a browser: `CHECKS`, functions of a Playwright page and the path of the file."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

Check = Callable[[Page, Path], None]
PHONES = ((390, 844), (320, 568))
A4_WIDTH = 673  # CSS pixels between the margins

# The columns of a table after a click on each head, once and twice: [title, kind, order, the cells as shown].
SORTED_COLUMNS = """(table) => {
  const rows = () => [...table.tBodies[0].rows];
  return [...table.tHead.rows[0].cells].flatMap((head, at) => [0, 1].map(() => {
    head.querySelector("button").click();
    const cells = rows().map((row) => row.cells[at]);
    return { title: head.textContent, isNumber: head.classList.contains("num"), order: head.getAttribute("aria-sort"),
             sorted: table.tHead.querySelectorAll("[aria-sort]").length,
             cells: cells.map((cell) => [cell.textContent.trim(), cell.classList.contains("missing")]) };
  }));
}"""
OUTSIDE = """() => {
  const scrolls = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
  const inScroller = (one) => one && (scrolls(one) || inScroller(one.parentElement));
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility() && !one.closest("svg") && !inScroller(one.parentElement))
    .filter((one) => { const { left, right, width } = one.getBoundingClientRect();
      return width > 1 && right > 0 && (right > innerWidth + 1 || left < -1); })
    .map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`); }"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .map((one) => [Number(one.localName[1]), one.textContent.trim()])"""
PICTURES = """() => ({
  broken: [...document.images].filter((one) => !one.complete || !one.naturalWidth || !one.alt).length,
  drawings: [...document.querySelectorAll(".drawing > svg")].map((one) => {
    const box = one.getBoundingClientRect();
    return [box.width, box.height, one.querySelectorAll("path, use, text").length, one.getAttribute("role"),
            one.getAttribute("aria-label") ?? ""]; }) })"""
IDS = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  const named = ["href", "xlink:href", "aria-labelledby", "aria-describedby", "aria-controls", "clip-path", "style"];
  const referred = [...document.querySelectorAll("*")].flatMap((one) => named.flatMap((name) => {
    const value = one.getAttribute(name) ?? "";
    if (name.startsWith("aria")) return value.split(" ").filter(Boolean);
    if (name.endsWith("href")) return value.startsWith("#") ? [decodeURIComponent(value.slice(1))] : [];
    return [...value.matchAll(/url\\(["']?#([^)"']+)/g)].map((found) => found[1]);
  }));
  return { twice: ids.filter((one, at) => ids.indexOf(one) !== at), missing: referred.filter((one) => !ids.includes(one)) };
}"""
MARK = """() => {
  for (const title of document.querySelectorAll(".drawing svg g title")) {
    const mark = title.parentElement;
    mark.scrollIntoView({ block: "center" });
    const { left, top, width, height } = mark.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (document.elementFromPoint(x, y)?.closest("svg *") === mark) return { x, y, text: title.textContent };
  }
  return null;
}"""
VISIBLE = "(all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent)"
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Without shadows, heads that stay in place and boxes that scroll, axe-core can measure the contrast of every cell.
UNCOVER = """() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll(".scroll")) Object.assign(one.style, { background: "none", maxHeight: "none" });
  for (const one of document.querySelectorAll(".scroll th")) one.style.position = "static"; }"""
COLORS = """() => {
  const text = document.querySelector(".drawing text");
  return [getComputedStyle(document.body).backgroundColor, text ? getComputedStyle(text).fill : ""]; }"""

HAS_COLORS = f"(colors) => JSON.stringify(({COLORS})()) === JSON.stringify(colors)"  # a page may take a frame to change
SWITCHED = f"(colors) => ({COLORS})()[0] !== colors[0]"


def open_report(page: Page, path: Path) -> None:
    """Open a report from its file."""
    page.goto(Path(path).resolve().as_uri())


def loads_nothing_and_reports_no_error(page: Page, path: Path) -> None:
    """No request but the one for the file itself, no console message, no dialog, no second script."""
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda one: requests.append(one.url))
    page.on("console", lambda one: messages.append(one.text))
    page.on("pageerror", lambda one: messages.append(str(one)))
    page.on("dialog", lambda one: (messages.append(f"dialog {one.message}"), one.dismiss()))
    open_report(page, path)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    others = [one for one in requests if not one.startswith("data:image/")]
    assert others == [Path(path).resolve().as_uri()] and messages == []
    assert page.locator("script").count() == 1


def shows_its_pictures(page: Page, path: Path) -> None:
    """Every image has loaded and has a text; every chart has a size, content and a name."""
    open_report(page, path)
    found = page.evaluate(PICTURES)
    assert found["broken"] == 0
    for width, height, n_marks, role, name in found["drawings"]:
        assert width > 100 and height > 50 and n_marks > 0 and role == "img" and name


def has_no_dangling_references(page: Page, path: Path) -> None:
    """No id stands twice in the page, and everything that is referred to is there."""
    open_report(page, path)
    assert page.evaluate(IDS) == {"twice": [], "missing": []}


def has_headings_in_order(page: Page, path: Path) -> None:
    """One h1; no level is left out; no heading is empty; the contents name every section."""
    open_report(page, path)
    headings = page.evaluate(HEADINGS)
    levels = [level for level, _ in headings]
    assert levels[0] == 1 and levels.count(1) == 1 and all(text for _, text in headings)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("main").count() == page.locator("header.top").count() == 1
    assert page.locator(".contents a").count() == levels.count(2)


def sorts_its_tables(page: Page, path: Path) -> None:
    """A click on a head sorts by its column, a second one the other way round; missing values come last in both."""
    open_report(page, path)
    for table in page.locator(".scroll table").all():
        for one in table.evaluate(SORTED_COLUMNS):
            missing = [is_missing for _, is_missing in one["cells"]]
            assert missing == sorted(missing), one["title"]
            assert one["sorted"] == 1 and one["order"] in ("ascending", "descending")
            if not one["isNumber"]:
                continue
            numbers = [shown_number(text) for text, is_missing in one["cells"] if not is_missing]
            numbers = [number for number in numbers if number is not None]
            assert numbers == sorted(numbers, reverse=one["order"] == "descending"), one["title"]


def shown_number(text: str) -> float | None:
    """Return the number that a cell shows, None if it shows a text."""
    plain = text.replace(",", "").replace("−", "-").replace("%", "").replace("∞", "inf").lstrip("<>")
    try:
        return float(plain)
    except ValueError:
        return None


def filters_its_tables(page: Page, path: Path) -> None:
    """Rows that do not contain the typed text disappear, and come back when it is deleted."""
    open_report(page, path)
    for box in page.locator(".filter").all():
        field, count = box.locator("input"), box.locator("output")
        rows = page.locator(f"#{field.get_attribute('aria-controls')} tr")
        n_rows, wanted = rows.count(), rows.first.locator("th").inner_text().strip()
        field.fill(wanted.upper())
        shown = rows.evaluate_all(VISIBLE)
        assert shown and all(wanted.lower() in text.lower() for text in shown)
        assert count.inner_text() == (f"{len(shown):,} of {n_rows:,} rows" if wanted else f"{n_rows:,} rows")
        field.fill("no row has this text ☃")
        assert rows.evaluate_all(VISIBLE) == [] and count.inner_text().startswith("0 of")
        field.fill("")
        assert len(rows.evaluate_all(VISIBLE)) == n_rows and count.inner_text() == f"{n_rows:,} rows"


def copies_commands(page: Page, path: Path) -> None:
    """The button beside a command or text copies it, and says so to those who see it and those who do not."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_report(page, path)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for box in page.locator(".copy").all()[:3]:
        button = box.locator("button")
        button.click()
        button.filter(has_text="Copied").wait_for()
        assert page.locator("#pv-status").inner_text() == "Copied"
        assert page.evaluate("navigator.clipboard.readText()") == box.locator("pre, p").text_content()


def switches_to_dark_and_back(page: Page, path: Path) -> None:
    """The button changes the colours of page and charts; the choice lasts until it is the system's again."""
    open_report(page, path)
    button = page.locator("#pv-theme")
    light = page.evaluate(COLORS)
    button.click()
    page.wait_for_function(SWITCHED, arg=light)
    dark = page.evaluate(COLORS)
    assert dark[0] != light[0] and (dark[1] != light[1] or not light[1]) and button.inner_text() == "Light colours"
    page.reload()
    page.wait_for_function(HAS_COLORS, arg=dark)
    page.emulate_media(media="print")
    page.wait_for_function(HAS_COLORS, arg=light)  # paper is never dark
    page.emulate_media(media="screen")
    button.click()
    page.wait_for_function(HAS_COLORS, arg=light)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(HAS_COLORS, arg=dark)


def names_marks_under_the_pointer(page: Page, path: Path) -> None:
    """The name of a mark of a chart appears under the pointer, and goes away with Escape."""
    open_report(page, path)
    if not (mark := page.evaluate(MARK)):
        return
    page.evaluate(NEXT_FRAME)  # after the scroll event, which hides names
    page.mouse.move(mark["x"], mark["y"])
    tip = page.locator("#pv-tip")
    assert tip.is_visible() and tip.text_content() == mark["text"]
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def fits_a_phone(page: Page, path: Path) -> None:
    """Nothing is wider than the window of a phone, except inside boxes that scroll."""
    for width, height in PHONES:
        page.set_viewport_size({"width": width, "height": height})
        open_report(page, path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []


def prints_everything_on_a4(page: Page, path: Path) -> None:
    """On paper there are no controls, what was folded is open, and nothing is wider than the sheet."""
    page.set_viewport_size({"width": A4_WIDTH, "height": 950})
    open_report(page, path)
    page.emulate_media(media="print")
    for controls in (".contents", ".button", "input", ".skip"):
        assert not any(one.is_visible() for one in page.locator(controls).all()), controls
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details:not([open], .minor)").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= A4_WIDTH
    assert page.evaluate(OUTSIDE) == []
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF-")


def is_usable_by_keyboard(page: Page, path: Path) -> None:
    """The first Tab leads to a link past the contents; every focus is visible; Enter sorts a table."""
    open_report(page, path)
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert (
        skip.inner_text() == "Skip to the content" and skip.evaluate("(one) => one.getBoundingClientRect().left") >= 0
    )
    page.keyboard.press("Enter")
    assert page.locator("main:focus").count() == 1
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.locator("main :focus").count() == 0:
            break
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    if (heads := page.locator(".scroll thead button")).count():
        heads.first.focus()
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort] button:focus").count() == 1


def is_complete_without_script(page: Page, path: Path) -> None:
    """Texts and tables are there, and nothing that would only work with the script; needs a context without JavaScript."""
    open_report(page, path)
    assert not any(one.is_visible() for one in page.locator("button, input, output").all())
    assert page.locator("h1").is_visible()
    for table in page.locator(".scroll table").all():
        assert table.is_visible()
    for folded in page.locator("main details").all()[:3]:
        folded.locator("summary").click()
        assert folded.locator("> :not(summary)").first.is_visible()


CHECKS: tuple[Check, ...] = (
    loads_nothing_and_reports_no_error,
    shows_its_pictures,
    has_no_dangling_references,
    has_headings_in_order,
    sorts_its_tables,
    filters_its_tables,
    copies_commands,
    switches_to_dark_and_back,
    names_marks_under_the_pointer,
    fits_a_phone,
    prints_everything_on_a4,
    is_usable_by_keyboard,
)


def is_accessible(page: Page, path: Path, barriers: Callable[[Any], list[str]]) -> None:
    """axe-core finds nothing serious on a light laptop and on a dark phone."""
    for scheme, size in (("light", (1280, 800)), ("dark", PHONES[0])):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        open_report(page, path)
        page.evaluate(UNCOVER)
        assert barriers(page) == [], (scheme, size)
