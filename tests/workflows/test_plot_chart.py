"""`pv.plot` and the methods `plot`: what each thing is drawn as, what is computed for it, and where it is drawn."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import plurivox as pv
from chart_inputs import answers_of, chart_input
from plurivox import charts
from plurivox.core.errors import InputError, MissingExtra, OptionError, PlurivoxWarning, UnknownName
from plurivox.core.votes import Votes
from plurivox.workflows.plot_chart import write_figure
from toy_training import toy_data

VOTES = Votes.of(list("aaabbb"), ["v", "w", "x"] * 2, ["no", "yes", "yes", "no", "no", "no"])


def test_a_chart_by_name_with_options_and_by_spec() -> None:
    by_name = pv.plot(VOTES, "labels", order="given")
    assert isinstance(by_name, Figure) and by_name.caption == pv.plot(VOTES, "labels[order=given]").caption
    with pytest.raises(UnknownName, match="did you mean 'labels'"):
        pv.plot(VOTES, "labls")
    with pytest.raises(UnknownName, match="no option of labels called 'colour'"):
        pv.plot(VOTES, "labels", colour="red")
    with pytest.raises(OptionError, match="theme must be light or dark"):
        pv.plot(VOTES, "labels", theme="grey")


def test_every_thing_has_its_usual_chart() -> None:
    fit, data = pv.fit(VOTES, "dawid-skene"), chart_input()
    assert VOTES.plot().caption == pv.plot(VOTES, "votes-per-task").caption
    assert fit.plot().caption == pv.plot({"dawid-skene": fit}, "posterior").caption
    assert "posterior" not in fit.soft.plot().caption and "mean entropy" in fit.soft.plot().caption
    assert fit.confusion is not None and fit.confusion.plot().caption == pv.plot(fit.confusion, "confusion").caption
    of_workers, of_tasks = pv.score(VOTES, "agreement-with-rest"), pv.score(VOTES, "entropy")
    assert of_workers.plot().caption == pv.plot(of_workers, "worker-scores").caption
    assert of_tasks.plot().caption == pv.plot(of_tasks, "hardest").caption
    assert data.dynamics is not None and data.dynamics.plot().caption == pv.plot(data.dynamics, "training").caption
    assert "answers" in answers_of(VOTES).plot().caption
    assert VOTES.plot("workload").caption.startswith("3 workers gave 6 votes")


def test_a_thing_without_a_usual_chart_says_so() -> None:
    with pytest.raises(InputError, match="has no usual chart; name one"):
        pv.plot([])


def test_scores_and_methods_named_are_computed() -> None:
    caption = pv.plot(chart_input().votes, "worker-scores", scores="trace,drift").caption
    assert "by both scores" in caption or "rank correlation of the two scores" in caption
    caption = pv.plot(VOTES, "posterior", methods=["wawa", "majority-vote[ties=share]"]).caption
    assert "by wawa" in caption and "by majority-vote[ties=share]" in caption


def test_usual_methods_that_need_names_are_left_out_for_counts_but_named_ones_refused() -> None:
    counts = Votes.from_counts(np.array([[3, 1], [1, 4]]), ["a", "b"], ["no", "yes"])
    gold = {"a": "no", "b": "yes"}
    with pytest.warns(PlurivoxWarning, match="'dawid-skene', 'log-pool': left out"):
        assert "vote-shares" in pv.plot(counts, "reliability", gold=gold).caption
    with pytest.raises(InputError, match="dawid-skene needs worker names"):
        pv.plot(counts, "reliability", gold=gold, methods="vote-shares,dawid-skene")


def test_the_votes_with_names_are_drawn_where_workers_matter(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\na,ann,x\na,bo,y\n")
    (tmp_path / "counts.csv").write_text("task,x,y\na,5,1\nb,2,4\n")
    with pytest.warns(PlurivoxWarning, match="only the votes that name their workers are drawn, on 1 of 2 tasks"):
        assert pv.plot(tmp_path, "workload").caption.startswith("2 workers gave 2 votes")
    with pytest.warns(PlurivoxWarning, match="the counts are used"):
        assert pv.plot(tmp_path, "votes-per-task").caption.startswith("2 tasks got 12 votes")


def test_it_draws_on_axes_of_the_caller_and_leaves_the_settings_of_matplotlib() -> None:
    before = dict(mpl.rcParams)
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    assert pv.plot(VOTES, "workload", ax=right) is figure
    assert right.patches and not left.patches and figure.caption.startswith("3 workers")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_figures_are_written_the_same_each_time(tmp_path: Path, ending: str, start: bytes) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        write_figure(pv.plot(VOTES, "workload"), file)
    assert files[0].read_bytes().startswith(start) and files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(InputError, match=r"unsupported file type .* \.svg, \.png, \.pdf"):
        write_figure(pv.plot(VOTES, "workload"), tmp_path / "a.gif")


def test_figures_show_themselves_in_notebooks() -> None:
    assert pv.plot(VOTES, "workload")._repr_png_().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (lambda: pv.plot(VOTES, "workload"), VOTES.plot):
        with pytest.raises(
            MissingExtra, match=r"drawing a chart needs matplotlib; run: pip install 'plurivox\[plot\]'"
        ):
            draw()
    assert all(charts.methods[name].summary() for name in charts.methods)


@pytest.mark.training
def test_a_trained_net_is_drawn_as_its_training() -> None:
    pytest.importorskip("torch", reason="training is missing; run: pip install 'plurivox[train]'")
    x, _, votes = toy_data()
    trained = pv.train.fit(x, votes, net="linear", plan=pv.train.Plan(epochs=3))
    assert trained.plot().caption == pv.plot(trained, "training").caption
    assert len(trained.history["epoch"]) == 3
