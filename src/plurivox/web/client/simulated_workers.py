"""Simulated workers that answer the tasks of a study over HTTP, for demos and tests."""

import asyncio
import hashlib
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from plurivox.web.client.worker_client import Client, Rejected

Done = Callable[[Client], None]
BEGIN_AGAIN_SECONDS = (
    0.5  # until a worker asks again who waits for the first answers of others; simulated ones are quick
)


async def simulate_workers(
    base_url: str,
    invite: str,
    n_workers: int,
    *,
    seed: int = 0,
    pause: float = 0.0,
    connections: int = 200,
    patience: float = 30.0,
    clients: list[Client] | None = None,
    resend: float = 0.0,
) -> list[Client]:
    """Run `n_workers` through all stages of a study at the same time; return their clients with the acknowledged answers.

    `pause`: mean seconds between answers, the time that an answer takes at most; `resend`: share of answers sent twice, as a
    browser does if an acknowledgement was lost; `clients`: a list to which each client is added when it starts.
    """
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    found: list[Client] = [] if clients is None else clients
    async with httpx.AsyncClient(base_url=base_url, limits=limits, timeout=30) as http:

        async def run_numbered_worker(number: int) -> None:
            client = Client(http, patience=patience)
            found.append(client)
            await simulate_worker_until_completion_code(
                client, random.Random(f"{seed} {number}"), {"invite": invite}, pause, resend
            )

        await asyncio.gather(*(run_numbered_worker(number) for number in range(n_workers)))
    return found


async def simulate_worker_until_completion_code(
    client: Client,
    rng: random.Random,
    invite_platform_or_link: dict[str, Any],
    mean_pause_seconds: float = 0.0,
    resend_share: float = 0.0,
) -> dict[str, Any]:
    """Simulate a worker who enters a study and finishes all stages; return the completion code, {} if there was no task."""
    state = await client.enter_study(**invite_platform_or_link)
    while state["stage"] != "done":
        stage, began = state["stage"], time.monotonic()
        if stage in ("practice", "tasks"):
            waiting = await _answer_tasks_and_return_waiting_if_any(
                client, state, rng, mean_pause_seconds, resend_share
            )
            if waiting is not None and waiting["others_begin"]:
                await asyncio.sleep(BEGIN_AGAIN_SECONDS)
                continue
            if waiting is not None and not waiting["answered"]:
                return {}  # all tasks are leased to others: no answer, no code
            state = await client.get_state() if waiting is None else (await client.finish_stage("tasks"))["me"]
        elif stage == "quiz":
            state = await _retry_quiz_and_return_worker_state(client, state, rng)
        else:
            agreed = {"agreed": True} if stage == "consent" else {}
            ms = min(rng.uniform(2e3, 3e4), _milliseconds_since(began))
            state = (await client.finish_stage(stage, ms=ms, **agreed))["me"]
    return await client.get_completion()


async def _retry_quiz_and_return_worker_state(
    client: Client, worker_state: dict[str, Any], rng: random.Random
) -> dict[str, Any]:
    """Answer the comprehension quiz by trying the choices in order until all are correct; return the worker's state."""
    chosen, tries = [0] * len(worker_state["quiz"]), 0
    while True:
        began = time.monotonic()
        result = await client.finish_stage(
            "quiz", quiz=chosen, ms=min(rng.uniform(5e3, 2e4), _milliseconds_since(began))
        )
        if not result["wrong"] or tries > 10:
            return dict(result["me"])
        for index in result["wrong"]:
            chosen[index] = (chosen[index] + 1) % len(worker_state["quiz"][index]["choices"])
        tries += 1


async def _answer_tasks_and_return_waiting_if_any(
    client: Client, worker_state: dict[str, Any], rng: random.Random, mean_pause_seconds: float, resend_share: float
) -> dict[str, Any] | None:
    """Answer tasks until none is left; return the server's waiting response, or None if the stage is finished."""
    try:
        batch = await client.lease_tasks(2)
    except Rejected as cause:
        if cause.body.get("error") == "wrong-stage":
            return None
        raise
    while slots := batch["slots"]:
        slot, began = slots[0], time.monotonic()
        await asyncio.sleep(mean_pause_seconds * rng.uniform(0.5, 1.5) if mean_pause_seconds else 0)
        marks = simulate_mostly_correct_marks(slot["task"], worker_state["labels"], worker_state["asks"], rng)
        times = _simulate_answer_times_and_events(worker_state, marks, rng, _milliseconds_since(began))
        acknowledged = await client.submit_answer(slot["slot"], marks, **times, ahead=2)
        if resend_share and rng.random() < resend_share:
            again = await client.submit_answer(slot["slot"], marks, key=client.acknowledged[-1])
            assert again["again"]
            client.acknowledged.pop()
        if acknowledged["stage"] != worker_state["stage"]:
            return None
        batch = (
            {"slots": acknowledged["slots"], "waiting": None} if acknowledged["slots"] else await client.lease_tasks(2)
        )
    return dict(batch["waiting"]) if batch["waiting"] else None


def simulate_mostly_correct_marks(
    task: dict[str, Any], labels: Sequence[str], question_type: dict[str, Any], rng: random.Random
) -> list[dict[str, str]]:
    """Return random marks of a task whose true label is derived from a hash of its content; 80% of workers name that label.

    `question_type` is what the form asks for, from the worker's state.
    """
    ordered = sorted(labels)
    digest = hashlib.sha256(repr((task["text"], task["text2"], task["media"])).encode()).digest()
    true, other = digest[0] % len(ordered), digest[1] % len(ordered)
    top = ordered[true if rng.random() < 0.8 else rng.randrange(len(ordered))]
    second = ordered[other] if ordered[other] != top else next(label for label in ordered if label != top)
    sure = rng.choice([50, 60, 70, 80, 90, 100])
    if not question_type["percents"]:
        rest = [label for label in ordered if label not in (top, second)]
        order = [top, *([second] if sure < 100 else []), *rng.sample(rest, min(len(rest), rng.randrange(3)))]
        return [{"kind": "named", "label": label} for label in order[: question_type["labels"]]]
    if question_type["labels"] is None:
        if chips := question_type["chips"]:
            sure = sure * chips // 100 * 100 // chips  # a whole number of chips
        return [
            _mark_label_with_percent(top, sure),
            *([_mark_label_with_percent(second, 100 - sure)] if sure < 100 else []),
        ]
    marks = [_mark_label_with_percent(top, sure)]
    if sure < 100 and question_type["labels"] > 1:
        marks.append(_mark_label_with_percent(second, (100 - sure) // 2))
    rest = [label for label in ordered if label not in {mark["label"] for mark in marks}]
    ticked = [label for label in rest if rng.random() < 0.3] if question_type["ticks"] else []
    return marks + [{"kind": question_type["ticks"], "label": label} for label in ticked]


def _mark_label_with_percent(label: str, percent: int) -> dict[str, str]:
    return {"kind": "named", "label": label, "typed": str(percent)}


def _milliseconds_since(began: float) -> float:
    """Return the milliseconds since a time of the monotonic clock."""
    return 1000 * (time.monotonic() - began)


def _simulate_answer_times_and_events(
    worker_state: dict[str, Any], marks: Sequence[dict[str, str]], rng: random.Random, max_ms: float
) -> dict[str, Any]:
    """Return simulated times and input events of an answer, in the format that the task page sends.

    They are at most the `max_ms` that have passed since the task was received: the server flags longer times as impossible.
    """
    steps = [rng.uniform(400, 2500) for _ in marks] + [rng.uniform(200, 900)]
    shorter = min(1.0, max_ms / sum(steps))
    at = [shorter * sum(steps[: i + 1]) for i in range(len(steps))]
    events = [
        {"seq": i, "ms": round(ms, 1), "kind": "pick" if i == 0 else mark["kind"], "label": mark["label"], "by": "key"}
        for i, (ms, mark) in enumerate(zip(at[:-1], marks, strict=True))
    ]
    return {
        "first_input_ms": at[0],
        "submitted_ms": at[-1],
        "mode": "keyboard",
        "label_order": worker_state["labels"],
        "events": events,
    }


def run_async(awaitable: Awaitable[Any]) -> Any:
    """Run an awaitable and return its result, even if an event loop is running, as in a notebook."""

    async def await_and_return_result() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(await_and_return_result())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, await_and_return_result()).result()
