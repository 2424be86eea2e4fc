"""Registries: aliases and former names of methods."""

from typing import Any

import pytest

from plurivox import aggregate, assign, clean, elicit, identify, recipes, simulate
from plurivox.core.errors import PlurivoxWarning


def test_aliases_and_former_names_give_the_method_and_former_ones_warn() -> None:
    assert elicit.methods["t2-clamp"] is elicit.methods["top-two"] and "t2-clamp" in elicit.methods
    assert "t2-clamp" not in list(elicit.methods)
    with pytest.warns(PlurivoxWarning, match="the identify method label-quality is now called crowdlab"):
        assert identify.methods.make("label-quality[consensus=majority]").spec == "crowdlab[consensus=majority]"
    assert aggregate.methods.replace_former_names("temper[method=average[parts=[temper,wawa]]]") == (
        "temperature[method=average[parts=[temperature,wawa]]]"
    )


@pytest.mark.parametrize("package", [aggregate, assign, clean, elicit, identify, recipes, simulate])
def test_aliases_are_not_names_of_other_methods(package: Any) -> None:
    methods = [package.methods[name] for name in package.methods.built_in_method_names]
    others = [name for one in methods for name in (*one.aliases, *one.former_names)]
    assert len(others) == len(set(others)) and not {*others} & {*package.methods.built_in_method_names}
