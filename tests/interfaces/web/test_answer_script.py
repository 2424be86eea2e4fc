"""The JavaScript state machine of an answer, run in a browser without the task page or a server."""

from collections.abc import Sequence
from typing import Any

import pytest

from plurivox import elicit
from plurivox.core.answers import Answers
from studies import asks

LABELS = ["cat", "dog", "bird", "deer", "frog", "ship", "horse", "truck", "airplane", "automobile"]
PRESS = """([keys, setup]) => {
  let state = answer.newAnswer(setup);
  for (const word of keys) {
    const shift = word.startsWith("Shift+");
    const key = word.replace("Shift+", "");
    const action = answer.readKey(state, { key, code: /^\\d$/.test(key) ? `Digit${key}` : "", shift });
    if (action) state = answer.applyAction(state, action);
    const total = answer.barPieces(state).reduce((sum, piece) => sum + piece.share, 0);
    if (total !== 100) throw new Error(`the bar sums to ${total} after ${word}`);
  }
  const told = answer.marks(state).marks.map((mark) => [mark.kind, mark.label, mark.typed]);
  return { ...state, marks: told };
}"""


@pytest.fixture(scope="module")
def page(blank: Any) -> Any:
    return blank("answer", "answer_actions", "answer_check", "keyboard", "answer_marks")


def setup(form: str = "also-possible", labels: Sequence[str] = LABELS, **study: Any) -> dict[str, Any]:
    """Return the initial data of an answer: the labels and what the form asks for."""
    return {"labels": labels, "asks": asks(form, **study)}


def press(page: Any, keys: str, **options: Any) -> Any:
    return page.evaluate(PRESS, [keys.split(), setup(**options)])


def named(*pairs: tuple[str, str]) -> list[list[str]]:
    return [["named", label, typed] for label, typed in pairs]


@pytest.mark.parametrize(
    ("keys", "form", "marks"),
    [
        ("3 Enter", "also-possible", named(("bird", "100"))),
        ("3 5 7 0 Enter", "also-possible", named(("bird", "70"), ("frog", "30"))),
        ("0 1 5 5 Enter", "also-possible", named(("automobile", "55"), ("cat", "45"))),
        ("3 5 ArrowLeft ArrowLeft Enter Enter", "also-possible", named(("bird", "40"), ("frog", "60"))),
        ("3 5 ArrowRight Shift+ArrowRight Enter", "also-possible", named(("bird", "56"), ("frog", "44"))),
        ("3 5 7 0 8 0 Enter", "also-possible", named(("bird", "80"), ("frog", "20"))),
        (
            "3 5 7 0 . 2 0 Shift+8 Enter",
            "also-possible",
            [*named(("bird", "70"), ("frog", "20")), ["possible", "truck", ""]],
        ),
        ("3 . 8 0 Enter", "top-two", named(("bird", "80"))),
        ("3 5 6 0 Shift+1 Enter", "top-two", [*named(("bird", "60"), ("frog", "40")), ["never", "cat", ""]]),
        ("h 3 3 5 . Enter", "also-possible", named(("frog", "90"), ("bird", "10"))),
        ("3 Enter", "one-label", named(("bird", ""))),
        ("s Enter", "top-two", []),
        ("o Enter", "top-two", []),
    ],
)
def test_keys_become_marks(page: Any, keys: str, form: str, marks: list[list[str]]) -> None:
    state = press(page, keys, form=form)
    assert state["sent"] and state["marks"] == marks


@pytest.mark.parametrize(
    ("form", "keys", "marks", "share"),
    [
        ("one-label", "3 Enter", named(("bird", "")), 1.0),
        ("top-two", "3 Enter", named(("bird", "100")), 0.9),  # the nine labels not ruled out share 0.1
        ("top-two", "3 n Enter", [*named(("bird", "100")), *(["never", x, ""] for x in LABELS if x != "bird")], 1.0),
        ("also-possible", "3 Enter", named(("bird", "100")), 1.0),  # unmarked labels get nothing
        ("histogram", "3 . Enter", named(("bird", "100")), 1.0),
    ],
)
def test_the_shortest_answer_stores_what_was_entered_and_no_more(
    page: Any, form: str, keys: str, marks: list[list[str]], share: float
) -> None:
    state = press(page, keys, form=form)
    assert state["sent"] and state["marks"] == marks
    said = [tuple(mark) for mark in state["marks"]]
    answers = Answers.of(task=["a"], worker=["w"], marks=[said], labels=LABELS, form=[form])
    soft = elicit.methods.make("form-column").read(answers).votes
    [shares] = soft.counts()
    names = soft.labels.tolist()
    assert shares[names.index("bird")] == pytest.approx(share)
    rest = [value for name, value in zip(names, shares, strict=True) if name != "bird"]
    assert rest == pytest.approx([(1 - share) / 9] * 9)


def test_one_key_rules_out_the_other_labels_and_reverts_it(page: Any) -> None:
    ruled = press(page, "3 5 7 0 n", form="top-two")["marks"]
    assert [mark[0] for mark in ruled] == ["named"] * 2 + ["never"] * 8
    assert len(press(page, "3 5 7 0 n n", form="top-two")["marks"]) == 2


@pytest.mark.parametrize(
    ("keys", "form", "why"),
    [
        ("Enter", "top-two", "Pick a label first"),
        ("3 5 Enter", "top-two", "Type it or use the arrow keys"),  # no default split
        ("3 5 1 0 0 Enter", "top-two", "leaves nothing for frog"),
        ("3 . 8 0 Enter", "also-possible", "20% is left over"),
        ("3 . 8 0 n Enter", "top-two", "20% is left over: leave a label open, or pick a second label"),
        ("3 6 0 n Enter", "top-one", "40% is left over: leave a label open, or say 100%"),
        ("3 5 6 0 . 2 0 n Enter", "top-two", "20% is left over: leave a label open, or use up all 100%"),
        ("h 3 3 Enter", "top-two", "90% still to place"),
        ("h Enter", "top-two", "100% still to place"),  # the histogram starts empty
    ],
)
def test_an_incomplete_answer_is_not_sent(page: Any, keys: str, form: str, why: str) -> None:
    state = press(page, keys, form=form)
    assert not state["sent"] and why in state["hint"]


def test_contradictions_cannot_be_entered(page: Any) -> None:
    assert "already picked" in press(page, "3 3")["hint"]
    assert press(page, "3 Shift+3", form="top-two")["ticked"] == []
    state = press(page, "Shift+3 3", form="top-two")  # picking a label removes its tick
    assert state["top"] == 2 and state["ticked"] == []
    assert press(page, "h " + "1 " * 25)["bars"][0] == 100
    assert "1 to 100" in press(page, "3 5 0")["hint"]


def test_a_likely_mistake_needs_a_second_enter(page: Any) -> None:
    for keys, why in (("3 5 2 0", "now has more than bird"), ("3 . 1 0 Shift+4", "Each open label now gets 90%")):
        once, twice = press(page, f"{keys} Enter"), press(page, f"{keys} Enter Enter")
        assert not once["sent"] and why in once["hint"] and twice["sent"]


def test_undo_reverts_each_step_and_then_goes_to_the_previous_task(page: Any) -> None:
    state = press(page, "3 5 7 0 Shift+8 u u")
    assert (state["topPercent"], state["ticked"]) == (7, [])
    assert press(page, "3 5 7 0 u u u u")["back"] is False
    assert press(page, "3 5 7 0 u u u u u")["back"] is True
    assert press(page, "3 5 7 0 Escape")["marks"] == [] and press(page, "3 5 7 0 Escape u")["topPercent"] == 70


def test_enter_is_ignored_just_after_the_page_changed(page: Any) -> None:
    script = """([at, setup]) => { const empty = answer.newAnswer({ ...setup, now: 1000 });
      const state = answer.applyAction(empty, { do: "pick", place: 0 });
      return answer.applyAction(state, { do: "enter", at }).sent; }"""
    assert [page.evaluate(script, [at, setup()]) for at in (1100, 1400)] == [False, True]


def test_many_labels_are_found_by_typing(page: Any) -> None:
    labels = [f"plant {at}" for at in range(40)] + ["oak", "royal oak"]
    state = press(page, "o a k 2 Enter", labels=labels)
    assert state["sent"] and state["marks"] == named(("royal oak", "100"))
    assert press(page, "r o y Enter Enter", labels=labels)["marks"] == named(("royal oak", "100"))
    assert press(page, "o a k 1 r o y 1 6 0 Enter", labels=labels)["marks"] == named(("oak", "60"), ("royal oak", "40"))


def test_digit_keys_are_read_by_position_on_any_keyboard_layout(page: Any) -> None:
    script = """setup => { const state = answer.newAnswer(setup);
      const keys = [["%", "Digit5", true], ["%", "", false], ["\\"", "Digit3", false], ["3", "Numpad3", false]];
      return keys.map(([key, code, shift]) => answer.readKey(state, { key, code, shift }).do); }"""
    assert page.evaluate(script, setup("top-two")) == ["shift-digit", "field", "digit", "digit"]


def test_labels_that_are_digits_are_picked_by_the_same_digit(page: Any) -> None:
    labels = list("3650172984")
    assert press(page, "8 3 7 0 Enter", labels=labels)["marks"] == named(("8", "70"), ("3", "30"))
    assert press(page, "h 8 Shift+8 3", labels=labels)["bars"][0] == 5
    # 9 is not a label, so the key does nothing
    assert press(page, "9 1 Enter", labels=["1", "2"])["marks"] == named(("1", "100"))


def test_an_earlier_answer_is_restored(page: Any) -> None:
    script = f"""([keys, setup]) => {{
      const before = ({PRESS})([keys, setup]);
      const marks = before.marks.map(([kind, label, typed]) => ({{ kind, label, typed }}));
      const said = {{ marks, abstain: before.aside === "abstain", none_of_these: before.aside === "none" }};
      return answer.marks(answer.restoreAnswer(setup, said)).marks.map((mark) => [mark.kind, mark.label, mark.typed]); }}"""
    for form in ("top-two", "also-possible"):
        for keys in ("3", "3 n", "Shift+1", "3 5 7 0", "3 5 7 0 Shift+1 . 2 0", "h 1 1 1 2 3 .", "s"):
            assert page.evaluate(script, [keys.split(), setup(form)]) == press(page, keys, form=form)["marks"], (
                form,
                keys,
            )


@pytest.mark.parametrize(("by", "top"), [(-5, 45), (5, 55)])
def test_less_and_more_start_from_half_when_two_labels_have_no_percents(page: Any, by: int, top: int) -> None:
    script = """([by, setup]) => [{ do: "pick", place: 0 }, { do: "pick", place: 1 }, { do: "nudge", by }]
      .reduce(answer.applyAction, answer.newAnswer(setup)).topPercent"""
    assert page.evaluate(script, [by, setup("top-two")]) == top


def test_a_percent_given_is_kept(page: Any) -> None:
    restored = """(setup) => {
      const marks = [{ kind: "named", label: "cat", typed: "100" }];
      return answer.restoreAnswer(setup, { marks }).topPercent; }"""
    assert page.evaluate(restored, setup("top-one")) == 100
    second = """([value, setup]) => {
      const steps = [{ do: "pick", place: 0 }, { do: "percent", value }, { do: "pick", place: 1 }];
      return steps.reduce(answer.applyAction, answer.newAnswer(setup)).topPercent; }"""
    assert [page.evaluate(second, [value, setup("top-two")]) for value in (70, 100)] == [70, None]


# ---- ranking, chips, and the forms that use a part of top-two


@pytest.mark.parametrize(
    ("keys", "form", "marks"),
    [
        ("3 5 1 Enter", "ranking", named(("bird", ""), ("frog", ""), ("cat", ""))),
        ("3 5 1 ArrowLeft Enter", "ranking", named(("bird", ""), ("cat", ""), ("frog", ""))),
        ("3 5 1 3 ArrowDown ArrowDown ArrowDown Enter", "ranking", named(("frog", ""), ("cat", ""), ("bird", ""))),
        ("3 5 1 Shift+5 Enter", "ranking", named(("bird", ""), ("cat", ""))),
        ("3 5 u 8 Enter", "ranking", named(("bird", ""), ("truck", ""))),
        ("3 o Enter", "ranking", []),
        ("1 1 1 2 Shift+1 3 . Enter", "chips", named(("bird", "85"), ("cat", "10"), ("dog", "5"))),
        ("1 2 ArrowRight Shift+ArrowRight 3 . Enter", "chips", named(("bird", "80"), ("dog", "15"), ("cat", "5"))),
        ("3 7 0 Enter", "top-one", named(("bird", "70"))),
        ("3 Enter", "top-one", named(("bird", "100"))),
        ("3 7 0 Shift+1 Enter", "top-one", [*named(("bird", "70")), ["never", "cat", ""]]),
        ("3 Enter", "select-top-two", named(("bird", ""))),
        ("3 5 7 Enter", "select-top-two", named(("bird", ""), ("horse", ""))),
        ("3 5 3 Enter", "select-top-two", named(("frog", ""))),
    ],
)
def test_keys_of_the_other_forms_become_marks(page: Any, keys: str, form: str, marks: list[list[str]]) -> None:
    state = press(page, keys, form=form)
    assert state["sent"] and state["marks"] == marks


def test_a_ranking_has_each_label_once_and_undo_reverts_one_step(page: Any) -> None:
    state = press(page, "3 5 3", form="ranking")
    assert state["order"] == [2, 4] and "bird is 1st" in state["hint"] and state["touched"] == 2
    assert press(page, "3 5 1 ArrowLeft u", form="ranking")["order"] == [2, 4, 0]
    assert press(page, "3 5 1 ArrowLeft u u u", form="ranking")["order"] == [2]
    assert press(page, "3 u u", form="ranking")["back"] is True
    assert "Pick a label first" in press(page, "Enter", form="ranking")["hint"]
    assert press(page, "h", form="ranking")["bars"] is None
    many = [f"plant {at}" for at in range(40)] + ["oak", "royal oak"]
    assert press(page, "o a k 2 o a k 1 Enter", labels=many, form="ranking")["marks"] == named(
        ("royal oak", ""), ("oak", "")
    )


def test_a_dragged_label_goes_to_the_nearest_rank(page: Any, blank: Any) -> None:
    near = """([x, y]) => ranking_state.nearestOf([[0, 0], [100, 0], [200, 0], [0, 50]].map(([left, top]) =>
      ({ left, top, width: 90, height: 44 })), x, y)"""
    ranking = blank("ranking_state")
    assert [ranking.evaluate(near, at) for at in ([20, 10], [190, 60], [999, 0], [0, 99])] == [0, 1, 2, 3]
    move = """([order, place, to, setup]) => { let state = answer.newAnswer(setup);
      for (const one of order) state = answer.applyAction(state, { do: "pick", place: one });
      return answer.applyAction(state, { do: "move", place, to }).order; }"""
    assert page.evaluate(move, [[0, 1, 2, 3], 0, 2, setup("ranking")]) == [1, 2, 0, 3]
    assert page.evaluate(move, [[0, 1, 2, 3], 3, 0, setup("ranking")]) == [3, 0, 1, 2]
    assert page.evaluate(move, [[0, 1], 2, 0, setup("ranking")]) == [0, 1]  # label 2 is not in the ranking


@pytest.mark.parametrize(("chips", "step"), [(10, 10), (20, 5), (4, 25)])
def test_chips_start_empty_stay_whole_and_are_all_placed(page: Any, chips: int, step: int) -> None:
    study = {"form": "chips", "chips": chips}
    assert press(page, "", **study)["bars"] == [0] * 10
    early = press(page, "1 2 Enter", **study)
    assert not early["sent"] and f"{chips - 2} of {chips} chips still to place" in early["hint"]
    full = press(page, "1 " * (chips + 1), **study)
    assert full["bars"][0] == 100 and f"All {chips} chips are placed" in full["hint"]
    assert press(page, "1 2 Shift+ArrowRight", **study)["bars"][:2] == [step, 2 * step]
    odd = """([chips, setup]) => { const state = answer.newAnswer(setup);
      return answer.applyAction(state, { do: "bar", place: 1, value: 37 }).bars[1] * chips % 100; }"""
    assert page.evaluate(odd, [chips, setup(**study)]) == 0


def test_earlier_answers_of_the_other_forms_are_restored(page: Any) -> None:
    script = f"""([keys, setup]) => {{
      const before = ({PRESS})([keys, setup]);
      const marks = before.marks.map(([kind, label, typed]) => ({{ kind, label, typed }}));
      const state = answer.restoreAnswer(setup, {{ marks }});
      return answer.marks(state).marks.map((mark) => [mark.kind, mark.label, mark.typed]); }}"""
    keys = {"ranking": "4 2 9", "chips": "1 1 2 .", "top-one": "3 7 0 Shift+1", "select-top-two": "3 5"}
    for form, words in {**keys, "top-one ": "3"}.items():
        found = page.evaluate(script, [words.split(), setup(form.strip())])
        assert found == press(page, words, form=form.strip())["marks"], form
