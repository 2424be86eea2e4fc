"""A number with the name of what it counts, as text."""


def count_text(n: float, singular: str, plural: str = "") -> str:
    """Return a number with the name of what it counts, in the plural unless the number is 1.

    >>> count_text(1, "task"), count_text(1200, "task"), count_text(2, "reply", "replies")
    ('1 task', '1,200 tasks', '2 replies')
    """
    return f"{n:,.0f} {singular if n == 1 else plural or singular + 's'}"
