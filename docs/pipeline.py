"""Draw docs/pipeline.svg: the steps of the pipeline and the data type that each step returns."""

from html import escape

BOX_WIDTH, BOX_HEIGHT, GAP, MARGIN = 104, 54, 26, 20
STEPS = {  # step: what it returns
    "clean": "Answers",
    "elicit": "Votes",
    "aggregate": "Fit",
    "identify": "Scores",
    "train": "SoftLabels",
    "evaluate": "measures",
}
INPUTS = {  # step: input that enters from below
    "clean": "people, in the studio",
    "aggregate": "votes in any table, simulated crowds",
    "evaluate": "gold labels",
}
STYLE = """
  .box { fill: #eef4f1; stroke: #1f6f54; stroke-width: 1.5 }
  .step { font: 600 15px system-ui, sans-serif; fill: #14382c } .data { font: 12px system-ui, sans-serif; fill: #4a5a54 }
  .line { stroke: #1f6f54; stroke-width: 1.5; fill: none; marker-end: url(#tip) } text { text-anchor: middle }
"""


def pipeline_svg() -> str:
    """Return the pipeline as an SVG: one row of boxes with step and data type, inputs below."""
    width, middle = 2 * MARGIN + len(STEPS) * (BOX_WIDTH + GAP) - GAP, MARGIN + BOX_HEIGHT / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 150" role="img" '
        f'aria-label="The pipeline: {", ".join(STEPS)}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
        '<path d="M0,0 L7,4 L0,8 z" fill="#1f6f54"/></marker></defs>',
        f'<rect width="{width}" height="150" fill="white"/>',
    ]
    centre = {}
    for i, (step, data) in enumerate(STEPS.items()):
        x = MARGIN + i * (BOX_WIDTH + GAP)
        centre[step] = x + BOX_WIDTH / 2
        parts.append(f'<rect class="box" x="{x}" y="{MARGIN}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>')
        parts.append(f'<text class="step" x="{centre[step]}" y="43">{escape(step)}</text>')
        parts.append(f'<text class="data" x="{centre[step]}" y="62">{escape(data)}</text>')
        if i:
            parts.append(f'<path class="line" d="M{x - GAP + 2},{middle} H{x - 4}"/>')
    for step, text in INPUTS.items():
        parts.append(f'<path class="line" d="M{centre[step]},118 V80"/>')
        parts.append(f'<text class="data" x="{centre[step]}" y="134">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>", ""])
