from rich.progress import TimeRemainingColumn

from plurivox.cli._click import progress_bar
from plurivox.cli._click.progress_bar import COMPILING_LINE, CompilationLine, ProgressBar
from plurivox.core.progress_callbacks import AtMost


def shown(bar: ProgressBar) -> tuple[str, str, str, str]:
    """Return description, steps, the word before the remaining time, and the remaining time of a bar."""
    assert bar.bar is not None
    task = bar.bar.tasks[0]
    return task.description, task.fields["steps"], task.fields["left"], TimeRemainingColumn().render(task).plain


def test_the_remaining_time_is_shown_only_if_the_number_of_steps_is_known(monkeypatch) -> None:
    monkeypatch.setattr(progress_bar, "BAR_DELAY_SECONDS", 0)
    bar = ProgressBar("fit")
    bar(2, 10, 0.5)
    assert shown(bar)[:3] == ("fit", "3/10", "left") and shown(bar)[3]
    bar(11, AtMost(100), -1.25)
    assert shown(bar) == ("fit", "step 12 of at most 100", "", "")
    bar(3, 10)
    assert shown(bar)[:3] == ("fit", "4/10", "left") and shown(bar)[3]
    bar.remove_bar()


def test_the_bar_says_compiling_until_the_next_step(monkeypatch) -> None:
    monkeypatch.setattr(progress_bar, "BAR_DELAY_SECONDS", 0)
    bar = ProgressBar("fit")
    bar.show_compilation(True)
    bar.show_compilation(False)
    assert shown(bar)[0] == "fit: compiling, once"
    bar(0, 3)
    assert shown(bar)[:2] == ("fit", "1/3")
    bar.remove_bar()


def test_without_a_terminal_long_compilation_is_told_in_one_line(monkeypatch, capsys) -> None:
    clock = iter([0.0, 1.5, 1.5, 2.5, 2.5, 9.0])
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: next(clock))
    line = CompilationLine()
    for active in (True, False):
        line(active)
    assert capsys.readouterr().err == ""
    for active in (True, False, True, False):
        line(active)
    assert capsys.readouterr().err == COMPILING_LINE + "\n"
