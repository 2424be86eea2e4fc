"""What owners look at, computed from all answers: soft labels with their uncertainty, agreement, workers, times, flags.

Run as a process of its own (`python -m plurivox.web.aggregating`), so that no request ever waits for it: it computes once
for every line on its standard input, and ends with it.
"""

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import beta
from sqlalchemy import Connection, Engine, delete, func, insert, select

from plurivox.core.answers import Answers
from plurivox.core.errors import PlurivoxError
from plurivox.core.names import Floats
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.elicit import Elicited
from plurivox.elicit import methods as forms
from plurivox.recipes._doing import fit
from plurivox.recipes._scoring import score
from plurivox.web.comparing import compare
from plurivox.web.gaining import write_gains
from plurivox.web.settings import Settings
from plurivox.web.store.collecting import Collected, collect
from plurivox.web.store.database import WRITES, now, open_engine
from plurivox.web.store.items import batched
from plurivox.web.store.tables import answers, beliefs, flags, snapshots, visits
from plurivox.web.study import Study, read_study

DEFAULT = "vote-shares"  # the mean of the soft answers
OF_WORKERS = ("agreement-with-rest", "repeat-consistency", "too-fast")
OF_CROWD = ("krippendorff-alpha", "observed-agreement")
KEPT = 10  # snapshots
AT_ONCE = 1_000


def compute(engine: Engine, study: Study) -> None:
    """Read all answers, compute, write a snapshot."""
    began = time.monotonic()
    with engine.connect() as connection:
        last = connection.execute(select(func.max(answers.c.id))).scalar() or 0
        held = collect(connection, study)
        stages = _stage_times(connection)
    body: dict[str, Any] = {"answers": len(held.answers), "by": study.aggregator or DEFAULT, "stages": stages}
    soft: dict[int, Any] = {}
    odd: dict[int, list[str]] = {}
    if len(held.answers):
        read = forms.make("as-asked").read(held.answers)
        odd = _flags(study, held, read)
        fitted = _fit(study, held.answers)
        if fitted is not None:
            soft = _beliefs(held, fitted)
            body |= _histograms(fitted)
            body |= write_gains(engine, study, held, fitted)
        if study.arms:
            with engine.connect() as connection:
                body["forms"] = compare(connection, study, read)
        body |= {"agreement": _agreement(held, read), "times": _times(held), "workers": _workers(held, read, odd)}
    body["seconds"] = round(time.monotonic() - began, 3)
    _write(engine, last, body, soft, odd)


def _first(found: Answers) -> Answers:
    """Without repeats: a person says one thing about a task."""
    return found if found.repeat_of is None else found.where(found.repeat_of < 0)


def _fit(study: Study, found: Answers) -> Fit | None:
    votes = forms.make("as-asked").read(_first(found)).votes
    if not len(votes):
        return None
    try:
        return fit(votes, study.aggregator or DEFAULT)
    except PlurivoxError:
        return fit(votes, DEFAULT)


def _beliefs(held: Collected, fitted: Fit) -> dict[int, Any]:
    """task -> (entropy, [[label, p, low, high], ...] most probable first), for tasks somebody has answered."""
    found = held.answers
    n = np.bincount(_first(found).task, minlength=len(found.tasks))  # (n_tasks,)
    prob = np.asarray(fitted.soft.prob, np.float64)  # (n_tasks, n_labels)
    low, high = interval(prob, n[:, None])
    entropy = -np.sum(np.where(prob > 0, prob * np.log(np.maximum(prob, 1e-300)), 0), axis=1)
    ids = np.zeros(len(found.tasks), np.int64)
    ids[found.task] = held.task_ids
    labels, order = found.labels.tolist(), np.argsort(-prob, axis=1, kind="stable")
    made: dict[int, Any] = {}
    for t in np.flatnonzero(n).tolist():
        rows = [[labels[k], *(round(float(x), 5) for x in (prob[t, k], low[t, k], high[t, k]))] for k in order[t]]
        made[int(ids[t])] = (round(float(entropy[t]), 6), rows)
    return made


def interval(prob: Floats, n: Any) -> tuple[Floats, Floats]:
    """A 95% interval of a mean of n soft answers, as if each were a vote: Beta(n p + 1/2, n (1 - p) + 1/2)."""
    a, b = n * prob + 0.5, n * (1 - prob) + 0.5
    return np.minimum(beta.ppf(0.025, a, b), prob), np.maximum(beta.ppf(0.975, a, b), prob)


def _histograms(fitted: Fit) -> dict[str, Any]:
    prob = np.asarray(fitted.soft.prob, np.float64)
    entropy = -np.sum(np.where(prob > 0, prob * np.log(np.maximum(prob, 1e-300)), 0), axis=1)
    top = math.log(prob.shape[1])
    shares = dict(zip(fitted.soft.labels.tolist(), prob.mean(0).round(5).tolist(), strict=True))
    return {
        "entropy": np.histogram(entropy, 10, (0, top))[0].tolist(),
        "confidence": np.histogram(prob.max(1), 10, (0, 1))[0].tolist(),
        "label_shares": shares,
    }


def _scores(names: Sequence[str], votes: Votes, found: Answers) -> dict[str, dict[str, float | None]]:
    """score -> name -> value; a score that cannot be told yet is left out."""
    told: dict[str, dict[str, float | None]] = {}
    for name in names:
        try:
            made = score(votes, name, answers=found)
        except PlurivoxError:
            continue
        values = made.value if made.raw is None or made.of == "worker" else made.raw
        told[name] = dict(zip(map(str, made.names.tolist()), map(_number, values.tolist()), strict=True))
    return told


def _number(value: float) -> float | None:
    return round(value, 5) if math.isfinite(value) else None


def _agreement(held: Collected, read: Elicited) -> dict[str, Any]:
    found = held.answers
    assert found.repeat_of is not None
    again = np.flatnonzero(found.repeat_of >= 0)
    top = found.named(0)
    same = None if not len(again) else float((top[again] == top[found.repeat_of[again]]).mean())
    scores = {name: next(iter(of.values()), None) for name, of in _scores(OF_CROWD, read.votes, found).items()}
    return {"scores": scores, "repeats": len(again), "repeats_same_top": same}


def _workers(held: Collected, read: Elicited, odd: Mapping[int, list[str]]) -> dict[str, Any]:
    """What is known of each worker."""
    found, table = held.answers, {}
    scores = _scores(OF_WORKERS, read.votes, found)
    n_odd = np.bincount(found.worker, [int(one) in odd for one in held.ids], len(found.workers))
    assert found.seconds is not None and found.when is not None
    for code, name in enumerate(found.workers.tolist()):
        mine = found.worker == code
        table[name] = {
            "answers": int(mine.sum()),
            "median_seconds": _median(found.seconds[mine]),
            "scores": {score: values.get(name) for score, values in scores.items()},
            "flags": int(n_odd[code]),
            "last_seen": float(found.when[mine].max()),
        }
    return table


def _times(held: Collected) -> dict[str, Any]:
    found = held.answers
    assert found.position is not None and found.seconds is not None
    known = ~np.isnan(found.seconds)
    curve = []
    for place in np.unique(found.position[known]).tolist():
        here = found.seconds[known & (found.position == place)]
        curve.append((int(place), round(float(np.median(here)), 3), len(here)))
    return {
        "first_input": _median(held.first_input),
        "top_label": _median(held.top_label),
        "active": _median(found.seconds),
        "hidden": _median(held.hidden),
        "by_position": curve,
    }


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 3) if len(known) else None


def _stage_times(connection: Connection) -> dict[str, float]:
    """Median seconds on each page."""
    spent: dict[str, list[float]] = {}
    for stage, ms in connection.execute(select(visits.c.stage, visits.c.ms).where(visits.c.ms.is_not(None))):
        spent.setdefault(stage, []).append(ms / 1000)
    return {stage: round(float(np.median(seconds)), 3) for stage, seconds in spent.items()}


def _flags(study: Study, held: Collected, read: Elicited) -> dict[int, list[str]]:
    """answer -> what is odd about it."""
    found = held.answers
    odd: dict[int, list[str]] = {}
    assert found.seconds is not None and found.repeat_of is not None
    top = found.named(0)
    again = found.repeat_of >= 0
    marks = {name: read.has(name) for name in read.odd}
    marks["too-fast"] = found.seconds < study.too_fast_seconds
    marks["changed-on-repeat"] = again & (top != top[found.repeat_of])
    marks["extra"] = held.extra
    marks["picture-not-seen"] = held.unseen
    for name, where in marks.items():
        for i in np.flatnonzero(where).tolist():
            odd.setdefault(int(held.ids[i]), []).append(name)
    return odd


def _write(engine: Engine, last: int, body: dict[str, Any], soft: Mapping[int, Any], odd: Mapping[int, Any]) -> None:
    """What has changed, in small transactions, so that nobody's answer waits; the snapshot itself comes last."""
    new_soft = {task: {"entropy": entropy, "soft": json.dumps(rows)} for task, (entropy, rows) in soft.items()}
    new_odd = {answer: {"flags": json.dumps(names)} for answer, names in odd.items()}
    with engine.connect().execution_options(**WRITES) as connection:
        for table, key, new in ((beliefs, beliefs.c.task_id, new_soft), (flags, flags.c.answer_id, new_odd)):
            with connection.begin():
                old = {row[0]: row._asdict() for row in connection.execute(select(table))}
            stale = [one for one, row in old.items() if one not in new or not new[one].items() <= row.items()]
            fresh = [{key.name: one, **row} for one, row in new.items() if one not in old or one in set(stale)]
            for part in batched(stale, AT_ONCE):
                with connection.begin():
                    connection.execute(delete(table).where(key.in_(part)))
            for rows in batched(fresh, AT_ONCE):
                with connection.begin():
                    connection.execute(insert(table), rows)
        with connection.begin():
            row = {"at": now(), "last_answer": last, "body": json.dumps(body)}
            made = connection.execute(insert(snapshots).values(row)).inserted_primary_key
            assert made is not None
            connection.execute(delete(snapshots).where(snapshots.c.id <= made[0] - KEPT))


def main() -> None:
    """Settings in the first line; then compute for every line that comes, and answer each with one."""
    settings = Settings.model_validate_json(sys.stdin.readline())
    engine = open_engine(settings)
    for _ in sys.stdin:
        try:
            compute(engine, read_study(settings.folder))
            said = "done"
        except Exception as cause:  # noqa: BLE001 - the server reads it and goes on
            said = f"failed: {type(cause).__name__}"
        sys.stdout.write(said + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
