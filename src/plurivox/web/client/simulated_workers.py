"""Simulated workers: they fill a study over HTTP, as people do, and keep what the server has not acknowledged."""

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from plurivox.web.client.client import Client, Rejected

Done = Callable[[Client], None]


async def fill(
    base_url: str,
    invite: str,
    n_workers: int,
    *,
    seed: int = 0,
    pause: float = 0.0,
    at_once: int = 200,
    patience: float = 30.0,
    clients: list[Client] | None = None,
    retell: float = 0.0,
) -> list[Client]:
    """Let `n_workers` walk through a study from the first page to the last; the clients know what was acknowledged.

    `pause` are seconds between answers, `retell` is the share of answers that are sent twice, as a browser does that
    did not hear the acknowledgement. Clients go into `clients`, where it is given, as they come in.
    """
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    found: list[Client] = [] if clients is None else clients
    async with httpx.AsyncClient(base_url=base_url, limits=limits, timeout=30) as http:

        async def one(place: int) -> None:
            client = Client(http, patience=patience)
            found.append(client)
            await walk(client, random.Random(f"{seed} {place}"), {"invite": invite}, pause, retell)

        await asyncio.gather(*(one(place) for place in range(n_workers)))
    return found


async def walk(
    client: Client, rng: random.Random, way: dict[str, Any], pause: float = 0.0, retell: float = 0.0
) -> dict[str, Any]:
    """One worker, all stages; the completion code at the end, or nothing where there was nothing to answer."""
    me = await client.enter(**way)
    while me["stage"] != "done":
        stage = me["stage"]
        if stage in ("practice", "tasks"):
            waiting = await _work(client, me, rng, pause, retell)
            if waiting is not None and not waiting["answered"]:
                return {}  # all is with others, and nobody waits here: no answer, no code
            me = await client.me() if waiting is None else (await client.finish("tasks"))["me"]
        elif stage == "quiz":
            me = await _quiz(client, me, rng)
        else:
            agreed = {"agreed": True} if stage == "consent" else {}
            me = (await client.finish(stage, ms=rng.uniform(2e3, 3e4), **agreed))["me"]
    return await client.done()


async def _quiz(client: Client, me: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Guess, and put right what was wrong."""
    chosen, tried = [0] * len(me["quiz"]), 0
    while True:
        said = await client.finish("quiz", quiz=chosen, ms=rng.uniform(5e3, 2e4))
        if not said["wrong"] or tried > 10:
            return dict(said["me"])
        for place in said["wrong"]:
            chosen[place] = (chosen[place] + 1) % len(me["quiz"][place]["choices"])
        tried += 1


async def _work(
    client: Client, me: dict[str, Any], rng: random.Random, pause: float, retell: float
) -> dict[str, Any] | None:
    """Answer until nothing is left, asking for the next slot with every answer; what is to be waited for, if anything."""
    try:
        news = await client.tasks(2)
    except Rejected as cause:
        if cause.body.get("error") == "wrong-stage":
            return None
        raise
    while slots := news["slots"]:
        slot = slots[0]
        await asyncio.sleep(pause * rng.uniform(0.5, 1.5) if pause else 0)
        said = reply(slot["task"], me["labels"], me["asks"], rng)
        taken = await client.answer(slot["slot"], said, **_times(me, said, rng), ahead=2)
        if retell and rng.random() < retell:
            again = await client.answer(slot["slot"], said, key=client.acknowledged[-1])
            assert again["again"]
            client.acknowledged.pop()
        if taken["stage"] != me["stage"]:
            return None
        news = {"slots": taken["slots"], "waiting": None} if taken["slots"] else await client.tasks(2)
    return dict(news["waiting"]) if news["waiting"] else None


def reply(
    task: dict[str, Any], labels: Sequence[str], asks: dict[str, Any], rng: random.Random
) -> list[dict[str, str]]:
    """Marks that people would agree on to a degree: a label that the task's content decides, with some doubt.

    `asks` is what the form asks for, as the server says it in `me`.
    """
    ordered = sorted(labels)
    told = hashlib.sha256(repr((task["text"], task["text2"], task["media"])).encode()).digest()
    true, other = told[0] % len(ordered), told[1] % len(ordered)
    top = ordered[true if rng.random() < 0.8 else rng.randrange(len(ordered))]
    second = ordered[other] if ordered[other] != top else next(label for label in ordered if label != top)
    sure = rng.choice([50, 60, 70, 80, 90, 100])
    if not asks["percents"]:
        rest = [label for label in ordered if label not in (top, second)]
        order = [top, *([second] if sure < 100 else []), *rng.sample(rest, min(len(rest), rng.randrange(3)))]
        return [{"kind": "named", "label": label} for label in order[: asks["labels"]]]
    if asks["labels"] is None:
        if chips := asks["chips"]:
            sure = sure * chips // 100 * 100 // chips  # whole ones
        return [_named(top, sure), *([_named(second, 100 - sure)] if sure < 100 else [])]
    marks = [_named(top, sure)]
    if sure < 100 and asks["labels"] > 1:
        marks.append(_named(second, (100 - sure) // 2))
    rest = [label for label in ordered if label not in {mark["label"] for mark in marks}]
    ticked = [label for label in rest if rng.random() < 0.3] if asks["ticks"] else []
    return marks + [{"kind": asks["ticks"], "label": label} for label in ticked]


def _named(label: str, percent: int) -> dict[str, str]:
    return {"kind": "named", "label": label, "typed": str(percent)}


def _times(me: dict[str, Any], marks: Sequence[dict[str, str]], rng: random.Random) -> dict[str, Any]:
    """Times and events as a page records them."""
    steps = [rng.uniform(400, 2500) for _ in marks]
    at = [sum(steps[: i + 1]) for i in range(len(steps))]
    events = [
        {"seq": i, "ms": round(ms, 1), "kind": "pick" if i == 0 else mark["kind"], "label": mark["label"], "by": "key"}
        for i, (ms, mark) in enumerate(zip(at, marks, strict=True))
    ]
    return {
        "first_input_ms": at[0],
        "submitted_ms": at[-1] + rng.uniform(200, 900),
        "mode": "keyboard",
        "label_order": me["labels"],
        "events": events,
    }


def run(work: Awaitable[Any]) -> Any:
    """Run to the end, also where an event loop is running already."""

    async def whole() -> Any:
        return await work

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(whole())
    with ThreadPoolExecutor(1) as beside:  # a notebook has a loop of its own already
        return beside.submit(asyncio.run, whole()).result()
