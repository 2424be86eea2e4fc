"""Take the pictures of the demo's report: `make demo`, then `python -m docs.report_shots`; writes docs/report/*.png."""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

OUT = Path(__file__).parent / "report"
WIDTH = 1180
COLOURS = 128  # enough for this page, and keeps the files small
PICTURES = {  # file: (id of the element at the top, height in pixels)
    "summary": ("pv-main", 860),
    "tasks": ("tasks", 860),
}


def main(page_file: Path) -> None:
    """Write a picture of the head of the page and of its hardest tasks."""
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(page_file.resolve().as_uri())
        for name, (element, height) in PICTURES.items():
            box = page.locator(f"#{element}").bounding_box()
            assert box is not None
            top, left = (0.0, 0.0) if name == "summary" else (box["y"] - 20, box["x"] - 20)
            clip = {"x": left, "y": top, "width": WIDTH - left, "height": height}
            taken = page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
            picture = Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            picture.save(OUT / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output/report.html"))
