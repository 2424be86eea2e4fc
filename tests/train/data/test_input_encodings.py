"""Encodings of inputs: fitted to training tasks, the same after JSON, and independent of the order of the rows."""

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.train.data.input_encodings import (
    InputEncoding,
    StandardisedColumns,
    TokenCodes,
    WordPairCodes,
    WordWeights,
    encoding_from_json,
)

TEXT = np.dtypes.StringDType()
TOKENS = [("s1", 0, "the"), ("s1", 1, "cat"), ("s1", 2, "sat"), ("s2", 0, "the"), ("s2", 1, "cat"), ("s2", 2, "sat")]
CELLS = {
    "numbers": (StandardisedColumns(("a", "b")), np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]])),
    "texts": (WordWeights(("text",)), np.array([["Good film."], ["bad film."], ["good, BAD"]], TEXT)),
    "tokens": (
        TokenCodes(("sentence", "position", "token"), letters=4),
        np.array(TOKENS, object).astype(str).astype(TEXT),
    ),
    "pairs": (WordPairCodes(("word", "stem")), np.array([["cats", "cat"], ["running", "run"]], TEXT)),
}


@pytest.mark.parametrize("kind", CELLS)
def test_a_stored_encoding_encodes_in_the_same_way(kind: str) -> None:
    unfitted, cells = CELLS[kind]
    fitted: InputEncoding = unfitted.fit(cells)
    assert fitted.is_fitted and not unfitted.is_fitted
    again = encoding_from_json(fitted.to_json())
    assert again == fitted and np.array_equal(again.encode(cells), fitted.encode(cells))
    order = np.array([1, 0, *range(2, len(cells))])
    assert np.array_equal(fitted.encode(cells[order]), fitted.encode(cells)[order])


def test_constant_columns_and_words_that_were_not_in_the_training_become_0() -> None:
    columns, cells = CELLS["numbers"]
    assert columns.fit(cells).encode(cells)[:, 1].tolist() == [0, 0, 0]
    words, texts = CELLS["texts"]
    assert not words.fit(texts).encode(np.array([["unseen words"]], TEXT)).any()
    with pytest.raises(InputError, match="no word occurs in two training texts"):
        words.fit(texts[:1])


def test_a_longer_sentence_is_cut_to_a_window_around_the_word() -> None:
    tokens, cells = CELLS["tokens"]
    fitted = tokens.fit(cells)
    longer = np.array([("s", str(i), f"w{i}" if i else "the") for i in range(5)], TEXT)
    assert fitted.encode(longer).shape == (5, 1 + 3 + 4) and fitted.vocabulary is not None
    assert fitted.vocabulary.names == ("cat", "sat", "the")


def test_damaged_encodings_are_errors() -> None:
    with pytest.raises(InputError, match="not an encoding of inputs"):
        encoding_from_json("{}")
    newer = WordPairCodes(("word", "stem")).to_json().replace('"format": 1', '"format": 9')
    with pytest.raises(InputError, match="update plurivox"):
        encoding_from_json(newer)
