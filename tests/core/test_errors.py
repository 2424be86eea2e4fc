"""Warnings show the line of the user's code that called plurivox."""

import warnings

import plurivox as pv

TABLE = {"task": ["a", "a", "b"], "worker": ["ann", "bo", "bo"], "label": ["Cat", "cat", None]}


def test_warnings_show_the_callers_line_once_each() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        pv.describe(TABLE)
    texts = [str(one.message) for one in found]
    assert len(texts) >= 2 and len(set(texts)) == len(texts)
    assert {one.filename for one in found} == {__file__}
