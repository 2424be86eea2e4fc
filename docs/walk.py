"""The picture of the walk."""

from html import escape

BOX_W, BOX_H, GAP = 104, 54, 26
WALK = [  # (verb, what comes out), and whether it is there yet
    ("clean", "Answers", True),
    ("elicit", "Votes", True),
    ("aggregate", "Fit", True),
    ("identify", "Scores", True),
    ("train", "SoftLabels", True),
    ("evaluate", "numbers", True),
    ("report", "a page", False),
]
STYLE = """
  .box { fill: #eef4f1; stroke: #1f6f54; stroke-width: 1.5 } .later { fill: #f6f6f6; stroke: #9a9a9a; stroke-dasharray: 4 3 }
  .verb { font: 600 15px system-ui, sans-serif; fill: #14382c } .noun { font: 12px system-ui, sans-serif; fill: #4a5a54 }
  .line { stroke: #1f6f54; stroke-width: 1.5; fill: none; marker-end: url(#tip) } text { text-anchor: middle }
"""


def walk_svg() -> str:
    """The walk as one row of boxes, what each gives written below its verb; data enter from below."""
    width, mid = 20 + len(WALK) * (BOX_W + GAP) - GAP + 20, 20 + BOX_H / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 150" role="img" '
        'aria-label="The walk: clean, elicit, aggregate, identify, train, evaluate, report">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
        '<path d="M0,0 L7,4 L0,8 z" fill="#1f6f54"/></marker></defs>',
        f'<rect width="{width}" height="150" fill="white"/>',
    ]
    for i, (verb, noun, here) in enumerate(WALK):
        x = 20 + i * (BOX_W + GAP)
        parts.append(
            f'<rect class="box{"" if here else " later"}" x="{x}" y="20" width="{BOX_W}" height="{BOX_H}" rx="8"/>'
        )
        parts.append(f'<text class="verb" x="{x + BOX_W / 2}" y="43">{escape(verb)}</text>')
        parts.append(f'<text class="noun" x="{x + BOX_W / 2}" y="62">{escape(noun)}</text>')
        if i:
            parts.append(f'<path class="line" d="M{x - GAP + 2},{mid} H{x - 4}"/>')
    parts += _doors()
    return "\n".join([*parts, "</svg>", ""])


def _doors() -> list[str]:
    """What enters and leaves below the row."""
    at = {verb: 20 + i * (BOX_W + GAP) + BOX_W / 2 for i, (verb, _, _) in enumerate(WALK)}
    texts = {
        "clean": "people, in the studio",
        "aggregate": "votes in any table, simulated crowds",
        "evaluate": "gold labels",
    }
    lines = []
    for verb, text in texts.items():
        lines.append(f'<path class="line" d="M{at[verb]},118 V80"/>')
        lines.append(f'<text class="noun" x="{at[verb]}" y="134">{escape(text)}</text>')
    return lines
