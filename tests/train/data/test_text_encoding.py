"""Text as codes, vocabularies in files, word vectors."""

from pathlib import Path

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.train.data.text_encoding import (
    Vocabulary,
    encode_pairs,
    encode_tokens,
    read_vocabularies,
    read_word_codes_and_vectors,
    write_vocabularies,
)

WORDS = Vocabulary.of(["to", "be", "or", "not"])  # codes: be 2, not 3, or 4, to 5
CHARS = Vocabulary.of("abcdefghijklmnopqrstuvwxyz")


def test_rare_words_and_capitals() -> None:
    words = Vocabulary.of(["The", "the", "cat"], least=2, lower=True)
    assert words.names == ("the",) and words.codes(["THE", "cat"]) == [2, 1] and len(words) == 3
    assert Vocabulary.of(["b", "a"]) == Vocabulary.of(["a", "b", "a"])


def test_a_token_is_encoded_as_position_sentence_and_letters() -> None:
    rows = encode_tokens(["to", "be", "be", "moon"], [7, 7, 8, 8], WORDS, CHARS, context=3, letters=2)
    assert rows.dtype == np.int64 and rows.shape == (4, 1 + 3 + 2)
    assert rows[0].tolist() == [0, 5, 2, 0, *CHARS.codes("to")] and rows[3].tolist() == [1, 2, 1, 0, *CHARS.codes("mo")]


def test_a_long_sentence_is_cut_around_the_token() -> None:
    text = ["to", "be", "or", "not", "to", "be"]
    rows = encode_tokens(text, [0] * 6, WORDS, CHARS, context=3, letters=1)
    for row, token in zip(rows, text, strict=True):
        assert row[1 + row[0]] == WORDS.codes([token])[0] and (row[1:4] > 0).all()
    assert rows[0, 0] == 0 and rows[3, 0] == 1 and rows[5, 0] == 2


def test_pairs_are_as_long_as_the_longest_word() -> None:
    rows = encode_pairs(["running", "a"], ["run", "b"], CHARS)
    assert rows.shape == (2, 14) and rows[0, 7:10].tolist() == CHARS.codes("run") and not rows[0, 10:].any()
    assert encode_pairs(["a"], ["b"], CHARS).shape == (1, 10)


def test_wrong_arguments_raise_errors() -> None:
    with pytest.raises(InputError, match="interrupted: 0"):
        encode_tokens(["to", "be", "or"], [0, 1, 0], WORDS, CHARS)
    with pytest.raises(InputError, match="1 tokens, but 2"):
        encode_tokens(["to"], [0, 1], WORDS, CHARS)
    with pytest.raises(InputError, match="1 first words, but 0"):
        encode_pairs(["to"], [], CHARS)


def test_vocabularies_are_the_same_after_write_and_read(tmp_path: Path) -> None:
    path, odd = tmp_path / "v.json", Vocabulary.of(["ß", "日本", '"'], lower=True)
    write_vocabularies(path, {"words": odd, "chars": CHARS})
    assert read_vocabularies(path, ["words"]) == {"words": odd, "chars": CHARS}
    with pytest.raises(InputError, match="no vocabulary of 'stems'; it has 'words', 'chars'"):
        read_vocabularies(path, ["stems"])
    with pytest.raises(InputError, match="no file"):
        read_vocabularies(tmp_path / "absent.json")
    for text, words in (
        ("{", "not a vocabulary file"),
        ("[]", "not a vocabulary file"),
        ('{"format": 99}', "newer"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            read_vocabularies(path)


def vectors(folder: Path, text: str, width: int = 2) -> dict[int, list[float]]:
    (folder / "glove.txt").write_text(text, encoding="utf-8")
    codes, found = read_word_codes_and_vectors(folder / "glove.txt", Vocabulary.of(["be", "To"]), width)  # To 2, be 3
    return dict(zip(codes.tolist(), found.tolist(), strict=True))


def test_word_vectors_of_known_words(tmp_path: Path) -> None:
    assert vectors(tmp_path, "be .5 -1\nmoon 1 1\n") == {3: [0.5, -1]}
    # a header line as in word2vec; To is found as lower-case to
    assert vectors(tmp_path, "3 2\nbe 1 2\nto 3 4\r\n. . 5 6\n") == {
        2: [3, 4],
        3: [1, 2],
    }
    assert vectors(tmp_path, "to 3 4\nTo 5 6\n") == {2: [5, 6]}  # an exact match is preferred


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("be 1 2\nto 1\n", "line 2: 1 numbers; the net expects 2"),
        ("be 1 2 3\n", "line 1: 3 numbers"),
        ("be 1 2\nbe 1 x\n", "line 2: a value after 'be' is not a number"),
        ("moon 1 2\n", "none of the 2 words"),
    ],
)
def test_errors_name_the_wrong_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        vectors(tmp_path, text)


def test_a_missing_file_of_vectors_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file of word vectors"):
        read_word_codes_and_vectors(tmp_path / "absent.txt", WORDS, 2)
