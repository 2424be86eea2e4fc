"""Help, lists and shell completion, for every method."""

import json
import re
from collections.abc import Callable

import pytest
from click.shell_completion import ShellComplete
from click.testing import Result

from plurivox.cli._method_commands import COMMAND_OF, STEPS, TRAIN_REGISTRIES, import_method_registry, method_catalogue
from plurivox.cli.main import COMMANDS, main
from plurivox.core.method import Method

Call = Callable[..., Result]
EVERY = [(step, name) for step in STEPS for name in method_catalogue(step)]


def completed(*words: str, incomplete: str = "") -> set[str]:
    shell = ShellComplete(main, {}, "plurivox", "_PLURIVOX_COMPLETE")
    return {str(item.value) for item in shell.get_completions(list(words), incomplete)}


def test_the_help_lists_every_command(call: Call) -> None:
    said = call("--help")
    assert said.exit_code == 0
    for name, (_, line) in COMMANDS.items():
        assert name in said.stdout and line in said.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_loaded_and_has_a_summary(call: Call, name: str) -> None:
    said = call(name, "--help")
    assert said.exit_code == 0, said.output
    assert said.stdout.startswith(f"Usage: plurivox {name}")


@pytest.mark.parametrize(("step", "name"), EVERY)
def test_every_method_has_a_command_with_all_its_options(call: Call, step: str, name: str) -> None:
    said = call(COMMAND_OF.get(step, step), name, "--help")
    assert said.exit_code == 0, said.output
    words = " ".join(said.stdout.split())
    whole = re.sub(r"(?<=\w)- (?=\w)", "-", words)  # lines may end at a hyphen
    method: type[Method] = import_method_registry(step)[name]
    assert method.summary() in words
    for option in method.options():
        assert f"--{option.name_with_dashes}" in words and (option.help in words or option.help in whole)
        assert option.allowed_values_text in words or option.choices


@pytest.mark.parametrize(("step", "name"), EVERY)
def test_every_command_takes_the_common_options(call: Call, step: str, name: str) -> None:
    words = call(COMMAND_OF.get(step, step), name, "--help").stdout
    assert all(flag in words for flag in ("--json", "--quiet", "--seed", "--threads"))
    if "seed" not in {option.name for option in import_method_registry(step)[name].options()}:
        assert "no effect" in words


def test_the_help_of_a_method_ends_with_formula_and_reference(call: Call) -> None:
    words = call("aggregate", "vote-shares", "--help").stdout
    assert "p(k | task) = n_k / sum_l n_l" in words and "doi.org" in words
    assert ">>>" not in words
    assert words.index("General:") < words.index("p(k | task)")


@pytest.mark.parametrize("step", [*STEPS, *TRAIN_REGISTRIES])
def test_methods_lists_a_step(call: Call, step: str) -> None:
    shown = call("methods", step).stdout
    assert all(name in shown and method_catalogue(step).summary(name) in shown for name in method_catalogue(step))


def test_methods_in_json_describe_every_option(call: Call) -> None:
    steps = json.loads(call("methods", "--json").stdout)["methods"]
    assert list(steps) == [*STEPS, *TRAIN_REGISTRIES]
    vote = next(one for one in steps["aggregate"] if one["name"] == "majority-vote")
    assert vote["options"][0]["choices"] == ["first", "random", "share"]
    assert vote["options"][1] | {"help": ""} == {
        "name": "seed",
        "flag": "--seed",
        "kind": "int",
        "default": 0,
        "help": "",
        "low": 0,
        "high": None,
        "choices": [],
        "optional": False,
    }


def test_completion_of_commands_methods_options_and_values() -> None:
    assert completed(incomplete="agg") == {"aggregate"}
    assert completed("aggregate") == set(method_catalogue("aggregate"))
    assert completed("aggregate", incomplete="maj") == {"majority-vote"}
    assert completed("aggregate", "majority-vote", incomplete="--ti") == {"--ties"}
    assert completed("aggregate", "majority-vote", "--ties") == {"first", "random", "share"}
    assert completed("methods") == {*STEPS, *TRAIN_REGISTRIES}
    assert completed("datasets") == {"list", "info", "install"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(call: Call, shell: str) -> None:
    script = call("completion", shell).stdout
    assert f"_PLURIVOX_COMPLETE={shell}_complete" in script
    assert json.loads(call("completion", shell, "--json").stdout)["script"].strip() == script.strip()
