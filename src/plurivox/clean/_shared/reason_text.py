"""The few words that reasons share."""


def several(n: int, thing: str) -> str:
    """A number and what is counted.

    >>> several(1, "answer"), several(1200, "answer")
    ('1 answer', '1,200 answers')
    """
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """A share as a percent, with a digit behind the point where it needs one.

    >>> percent(.75), percent(2 / 3)
    ('75%', '66.7%')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
