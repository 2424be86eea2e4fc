"""Options of methods: parsing, checks, specs."""

from dataclasses import dataclass
from typing import Literal

import pytest

from plurivox import aggregate
from plurivox.core.errors import OptionError, UnknownName
from plurivox.core.method import Method, option, parse_spec


@dataclass(frozen=True)
class Sample(Method):
    """A sample."""

    share: float = option(0.5, "a share", low=0, high=1)
    steps: int = option(3, "steps", low=1)
    mode: Literal["a", "b"] = option("a", "a mode")
    sure: bool = option(False, "sure or not")
    limit: int | None = option(None, "a limit, or none")


def test_a_method_is_recreated_from_repr_and_spec() -> None:
    sample = Sample(share=1, mode="b", sure=True, limit=4)
    assert eval(repr(sample)) == sample
    name, given = parse_spec(sample.spec)
    assert name == "sample" and Sample.from_options(given) == sample and sample.share == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"share": 2.0}, "sample: share must be 0 to 1; got 2.0"),
        ({"share": "x"}, "share must be a number; got 'x'"),
        ({"steps": "2.5"}, "steps must be a whole number; got '2.5'"),
        ({"steps": 0}, "steps must be at least 1; got 0"),
        ({"steps": True}, "steps must be a whole number; got True"),
        ({"mode": "c"}, "mode must be one of a, b; got 'c'"),
        ({"sure": "maybe"}, "sure must be yes or no"),
        ({"share": float("nan")}, "share must be a number; got nan"),
    ],
)
def test_a_wrong_value_raises_option_error_with_the_allowed_ones(given: dict, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        Sample.from_options(given)


def test_texts_are_parsed_as_the_type_of_the_option() -> None:
    assert Sample.from_options({"share": ".25", "sure": "yes", "limit": "none"}) == Sample(share=0.25, sure=True)


def test_unknown_names_get_suggestions() -> None:
    with pytest.raises(UnknownName, match=r"there is no aggregate method 'vote-share'; did you mean 'vote-shares'"):
        aggregate.methods["vote-share"]
    with pytest.raises(UnknownName, match=r"no option of majority-vote called 'tie'; did you mean 'ties'"):
        aggregate.methods.make("majority-vote[tie=first]")
    with pytest.raises(OptionError, match="lacks the closing bracket"):
        aggregate.methods.make("majority-vote[ties=first")


@pytest.mark.parametrize("names", ["ann", "ann,bo", "ann, bo", "glad[seed=1]", "glad[seed=1,tol=2],mace", "[odd]", ""])
def test_a_list_option_round_trips_through_a_spec(names: str) -> None:
    @dataclass(frozen=True)
    class Listing(Method):
        """A sample with a list."""

        names: str = option("none", "names, with commas between them")
        seed: int = option(0, "a seed")

    listing = Listing(names=names, seed=3)
    name, given = parse_spec(listing.spec)
    assert name == "listing" and Listing.from_options(given) == listing
    outer = Listing(names=listing.spec)  # a spec inside a spec
    assert Listing.from_options(parse_spec(outer.spec)[1]) == outer
