"""The outbox: answers stay in the browser until the server has acknowledged them."""

from typing import Any

import pytest

MEMORY = """
  const kept = new Map();
  const store = { get length() { return kept.size; }, key: (at) => [...kept.keys()][at] ?? null,
                  getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value),
                  removeItem: (key) => kept.delete(key) };
"""


@pytest.fixture(scope="module")
def page(blank: Any) -> Any:
    return blank("outbox")


def test_failed_answers_are_sent_again_in_order_with_the_same_key(page: Any) -> None:
    seen = page.evaluate(
        f"""async () => {{ {MEMORY} const seen = [];
        const send = async (entry) => {{ seen.push([entry.key, entry.body]);
          if (seen.length <= 3) throw new Error("gone");
          return "kept"; }};
        const box = new outbox.Outbox({{ space: "one", store, send, soonest: 5 }});
        box.put({{ body: "first", at: 1 }}); box.put({{ body: "next", at: 2 }});
        await box.drained(); return {{ seen, left: kept.size }}; }}"""
    )
    bodies = [body for _, body in seen["seen"]]
    assert bodies == ["first"] * 4 + ["next"] and len({key for key, body in seen["seen"] if body == "first"}) == 1
    assert seen["left"] == 0


def test_a_rejected_answer_does_not_block_the_others(page: Any) -> None:
    told = page.evaluate(
        f"""async () => {{ {MEMORY} const box = new outbox.Outbox({{ space: "two", store, soonest: 5,
          send: async (entry) => entry.body === "bad" ? "refused" : "kept" }});
        box.put({{ body: "bad", at: 1 }}); box.put({{ body: "good", at: 2 }}); await box.drained();
        return [...kept.values()].map(JSON.parse); }}"""
    )
    assert [(one["body"], one["refused"]) for one in told] == [("bad", True)]


def test_two_tabs_share_one_outbox_and_send_nothing_twice(page: Any) -> None:
    seen = page.evaluate(
        f"""async () => {{ {MEMORY} const seen = [];
        const send = async (entry) => {{ await new Promise((go) => setTimeout(go, 3)); seen.push(entry.body); return "kept"; }};
        const tabs = [0, 1].map(() => new outbox.Outbox({{ space: "three", store, send }}));
        for (let at = 0; at < 10; at++) tabs[at % 2].put({{ body: at, at }});
        await Promise.all(tabs.map((tab) => tab.drained())); return seen; }}"""
    )
    assert sorted(seen) == list(range(10))


def test_retry_pauses_grow_to_a_maximum(page: Any) -> None:
    pauses = page.evaluate(
        f"""() => {{ {MEMORY} const box = new outbox.Outbox({{ space: "four", store, send: async () => "kept" }});
        return [0, 3, 20].map((tries) => {{ box.tries = tries; return box.pause(); }}); }}"""
    )
    assert 400 <= pauses[0] <= 800 and 3200 <= pauses[1] <= 6400 and 15000 <= pauses[2] <= 30000
