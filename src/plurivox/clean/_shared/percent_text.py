"""Percents as text, for the reasons that cleaning rules give for removals."""


def format_percent(share: float) -> str:
    """Return a share from 0 to 1 as text in percent with at most one decimal: "66.7%".

    >>> format_percent(.75), format_percent(2 / 3)
    ('75%', '66.7%')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
