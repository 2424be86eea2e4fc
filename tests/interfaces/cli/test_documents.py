"""The commands in hand-written documents run and give the numbers printed there."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from examples import people_default, soft_answers_gain
from examples.people_default import CLIP, FIXED
from examples.soft_answers_gain import SMOOTHING

from plurivox.evaluate import MethodsOverDatasets

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "soft_answers.md"


def test_the_commands_of_soft_answers_run_and_give_the_numbers_of_its_text(
    call: Callable[..., Result], data_set: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number of the text is in the tables of the page, which the next test checks, or in the output of the commands."""
    data_set("cifar10s")
    data_set("cifar10h")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    lines = [*re.findall(r"^plurivox .*$", text, re.MULTILINE), "plurivox recipe cifar10s --seeds 1 -o tables"]
    said = [call(*shlex.split(line)[1:]) for line in lines]
    assert len(said) == 11 and all(one.exit_code == 0 for one in said), [one.output for one in said]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    recipe = Path("tables/tables.md").read_text("utf-8")
    typed = text[text.index("| percent typed") :].split("\n\n")[0].splitlines()
    assert len(typed) == 10 and set(typed) <= set(recipe.splitlines())

    prose = re.sub(r"```.*?```|`[^`]*`|^\|.*?$|https?://\S+", "", text, flags=re.DOTALL | re.MULTILINE)
    output = "\n".join([*(one.stdout for one in said), recipe, *rows])
    values = [float(one.replace(",", "")) for one in re.findall(r"-?[\d,]*\.\d+", output) if one.strip(",-") != "."]
    values += [SMOOTHING, 1 - SMOOTHING, CLIP, *(float(spec.split("=")[1][:-1]) for spec in FIXED[2:])]
    for number in re.findall(r"-?\d*\.\d{2,}", prose):
        digits = len(number.split(".")[1])
        assert any(abs(value - float(number)) <= 0.5001 * 10**-digits for value in values), number
    assert not re.search(r"plurivox\.\w", prose)  # public names only


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_tables_of_soft_answers_are_printed_by_its_scripts(
    data_set: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The scripts take minutes, so these are the tables of all answers, and one row of those of plain votes."""
    for name in ("cifar10s", "cifar10h", "chaosnli_alpha"):
        data_set(name)
    answers, gold, counts = soft_answers_gain.read_data()
    human = soft_answers_gain.shares(counts.counts())
    soft_answers_gain.compare_same_answers(answers, gold, human)
    soft_answers_gain.compare_methods(answers, gold, human)
    people_default.print_summary({("chaosnli_alpha", 3): people_default.compare_on_counts("chaosnli_alpha", 3)})
    printed, text = capsys.readouterr().out.splitlines(), PAGE.read_text("utf-8")
    parts = [part.split("\n#")[0] for part in text.split("## ")]
    wanted = [part for part in parts if part.startswith(("The same answers", "Which method for"))]
    rows = [line for part in wanted for line in part.splitlines() if line.startswith("|")]
    rows += [line for line in text.splitlines() if line.startswith("| chaosnli_alpha | 3 |")]
    assert len(rows) > 40 and not set(rows) - set(printed)


def rows_after(title: str, text: str) -> dict[str, list[str]]:
    """Return the rows of the first table after a line that begins with the title, by their first cell without backticks."""
    table = re.search(rf"^{re.escape(title)}.*\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table is not None, title
    rows = [[cell.strip().strip("`\\*") for cell in line.split("|")[1:-1]] for line in table[1].splitlines()]
    return {row[0]: row[1:] for row in (rows[0], *rows[2:])}


@pytest.mark.parametrize(("measure", "title", "column"), [("accuracy", "accuracy", 0), ("nll", "NLL", 1)])
def test_the_comparison_agrees_with_its_table_by_data_set(measure: str, title: str, column: int) -> None:
    """Means, medians, and which methods are worse than log-pool, follow from the values by data set on the page."""
    text = (ROOT / "docs" / "comparison.md").read_text("utf-8")
    table = rows_after(f"{title} by data set", text)
    methods = table.pop("data set")
    values = np.array(list(table.values()), np.float64)
    found = MethodsOverDatasets(values, methods.index("log-pool"), higher_is_better=measure == "accuracy")
    after = text[text.index("# Output: truth") : text.index("# Output: people")]
    means, medians, ranks = (rows_after(name, after) for name in ("Means over 16", "Medians over", "Mean ranks over"))
    assert len(table) == 16 and len(methods) == 22
    np.testing.assert_allclose(values.mean(0), [float(means[name][1 + column]) for name in methods], atol=1e-4)
    np.testing.assert_allclose(found.medians, [float(medians[name][column]) for name in methods], atol=1e-4)
    np.testing.assert_allclose(
        found.mean_ranks, [float(ranks[name][column]) for name in methods], atol=0.3
    )  # rounded values have more ties
    worse = ", ".join(f"`{methods[i]}`" for i in np.flatnonzero(found.holm_p_values <= 0.05))
    assert f"- {title}: better than `log-pool`: none; worse: {worse} (Wilcoxon" in text


def test_the_comparison_has_the_values_of_its_data_sets(
    call: Callable[..., Result], data_set: Callable[[str], Path]
) -> None:
    """Three of the data sets and four of the methods of the page give its numbers."""
    names, methods = ["bluebird", "rte", "wsd"], ["vote-shares", "wawa", "dawid-skene", "ibcc"]
    for name in names:
        data_set(name)
    rows = json.loads(call("compare", *names, "--methods", ",".join(methods), "--json").stdout)["rows"]
    text = (ROOT / "docs" / "comparison.md").read_text("utf-8")
    for measure, title in (("accuracy", "accuracy"), ("nll", "NLL")):
        table = rows_after(f"{title} by data set", text)
        places = list(zip(rows["dataset"], rows["method"], strict=True))
        printed = [float(table[name][table["data set"].index(method)]) for name, method in places]
        assert len(places) == len(names) * len(methods)
        np.testing.assert_allclose(rows[measure], printed, atol=1.5e-4)


def test_the_commands_of_the_readme_run(
    call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the commands of the README in order, in an empty folder without installed data sets."""
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLURIVOX_DATA", raising=False)
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]
    done = [call(*line) for line in lines]
    assert len(lines) == 14 and not [one.output for one in done if one.exit_code]
    for file in ("soft.csv", "people.csv"):
        assert (tmp_path / file).read_text().startswith("task,label,confidence,estimates,p:label-0,p:label-1,")


def test_links_between_pages_are_valid() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = [
        (page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    lost = [f"{page.name}: {link}" for page, link in links if "://" not in link and not (page.parent / link).exists()]
    assert len(links) > 40 and not lost
