"""The default texts of a study fit its form, wording and kind of tasks."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from plurivox.web.server_settings import Settings
from plurivox.web.store.schema import TaskKind
from plurivox.web.study.config import OLD_TEXTS, Study, Texts, parse_study, read_study
from plurivox.web.study.create_study import make_study
from plurivox.web.study.default_instructions import OLD_DEFAULT
from plurivox.web.study.question_forms import FORMS, PAPER_FORM
from plurivox.web.study.study_toml_writer import render_study_toml
from studies import plain_study, text_tasks

KINDS = get_args(TaskKind)
OTHERS = r"\b(they|them|nobody|others?|100 (other|crowd)|of the 100|people|workers)\b"
ONESELF = r"you (see|hear|are sure|are in doubt)|how sure|your doubt|do you think\?"


def all_texts(form: str, person: str, kind: str) -> str:
    """Return the instructions and the phrases that a form uses, in one text."""
    study = study_of(form=form, wording=person, kind=kind)
    asked = study.labels_percents_and_ticks_asked_for
    used = ["opening"]
    if asked.labels is None:
        used += ["rank", "ranking"] if not asked.percents else [form]
    else:
        used += ["top", "pick_top"]
        used += ["second", "pick_second"] if asked.labels == 2 else []
        used += ["top_percent", "percent_missing", "slider", "sure", "sure_means"] if asked.percents else []
        used += ["second_percent"] if asked.percents and asked.labels == 2 else []
        used += [asked.ticks, f"{asked.ticks}_mark"] if asked.ticks else []
    phrases = study.task_page_phrases()
    return "\n".join([study.instructions, *(phrases[name] for name in used)])


def study_of(**values: Any) -> Study:
    return Study.model_validate({"name": "x", "labels": ["cat", "dog"], **values})


@pytest.mark.parametrize("person", ["first", "third"])
@pytest.mark.parametrize("form", FORMS)
def test_texts_ask_about_oneself_or_about_others_and_never_both(form: str, person: str) -> None:
    for kind in KINDS:
        text = all_texts(form, person, kind).replace("one text after another", "").replace("another", "")
        text = re.sub(r"Mark other labels|You will (see|hear)[^.]*\.", "", text)
        if person == "first":
            assert not re.search(OTHERS, text), (kind, re.search(OTHERS, text))
        else:
            assert not re.search(ONESELF, text), (kind, re.search(ONESELF, text))
            assert "100" in text


@pytest.mark.parametrize("person", ["first", "third"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_label_asks_for_no_percent_and_no_doubt(kind: str, person: str) -> None:
    assert not re.search(r"percent|%|\bsure|doubt|certain|probab|likely", all_texts("one-label", person, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_texts_name_the_kind_of_task(kind: str) -> None:
    foreign = {"image": "picture|image", "text": r"\btext\b", "pair": "pair", "audio": "sound|hear"}
    for form in (PAPER_FORM, "one-label"):
        text = all_texts(form, "third", kind)
        own = re.compile(foreign[kind])
        assert own.search(text)
        assert not any(re.search(words, text) for other, words in foreign.items() if other != kind and other != "text")


@pytest.mark.parametrize("person", ["first", "third"])
def test_two_labels_leave_none_to_mark_as_possible(person: str) -> None:
    labels = [["cat", "dog"], ["cat", "dog", "ship"]]
    two, three = (study_of(form="also-possible", wording=person, labels=some).instructions for some in labels)
    assert not re.search("[Mm]ark", two) and re.search("[Mm]ark", three)


@pytest.mark.parametrize("text", ["closed", "failed"])
def test_the_old_text_of_a_closed_study_or_failed_check_is_replaced(text: str) -> None:
    old, own = (study_of(texts={text: given}).texts for given in (OLD_TEXTS[text], "Bye."))
    assert getattr(old, text) == getattr(Texts(), text) != OLD_TEXTS[text]
    assert getattr(own, text) == "Bye."


def test_the_default_is_not_written_into_study_toml_and_follows_the_form(tmp_path: Path) -> None:
    study = plain_study(texts={"consent": "", "debrief": ""}, form="one-label", wording="first", practice=0)
    make_study(Settings(folder=tmp_path / "s", database=""), study, text_tasks(4))
    toml = (tmp_path / "s" / "study.toml").read_text()
    assert "\ninstructions" not in toml
    assert "sure" not in read_study(tmp_path / "s").instructions
    (tmp_path / "s" / "study.toml").write_text(toml.replace('form = "one-label"', 'form = "top-one"'))
    assert "how sure you are, in percent" in read_study(tmp_path / "s").instructions


def test_the_old_default_of_a_file_is_replaced_and_an_own_text_is_kept() -> None:
    def read(text: str | None) -> Study:
        return parse_study({"name": "x", "labels": ["a", "b"], "form": "one-label", "texts": {"instructions": text}})

    assert read(OLD_DEFAULT).instructions == read(OLD_DEFAULT + "\n").instructions == read(None).instructions
    assert "doubt" not in read(OLD_DEFAULT).instructions
    assert read("Look closely.").instructions == "Look closely."
    assert 'instructions = "Look closely."' in render_study_toml(read("Look closely."))
    assert "instructions" not in read("").list_stages()
