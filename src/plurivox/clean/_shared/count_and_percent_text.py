"""Counts and percents as text, for the reasons that cleaning rules give for removals."""


def format_count(n: int, word: str) -> str:
    """Return a count with thousands separators and its word, in the plural unless the count is 1: "1,200 answers".

    >>> format_count(1, "answer"), format_count(1200, "answer")
    ('1 answer', '1,200 answers')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def format_percent(share: float) -> str:
    """Return a share from 0 to 1 as text in percent with at most one decimal: "66.7%".

    >>> format_percent(.75), format_percent(2 / 3)
    ('75%', '66.7%')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
