"""Table of the options of a method, for the generated pages."""

from plurivox.core.method import Method, Option


def option_lines(method: type[Method]) -> list[str]:
    """Return a table of the options of a method; no lines if it has none."""
    if not method.options():
        return []
    lines = ["| option | default | range | |", "|---|---|---|---|"]
    return lines + [
        f"| `--{o.name_with_dashes}` | {default_text(o)} | {o.allowed_values_text} | {o.help} |"
        for o in method.options()
    ]


def default_text(option: Option) -> str:
    return "none" if option.default is None or option.default == "" else f"`{option.default}`"
