"""Sound tasks: file type detected from bytes, range requests, playback by keys, answers only after listening."""

import io
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plurivox as pv
from interfaces.web.live_server import SHORT, run
from interfaces.web.page_actions import answer, fits, key, saved, shown, until
from plurivox.core.errors import InputError
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.tasks_batches_quotas import NewTask
from plurivox.web.study.audio_validation import validate_sound_and_return_media_file
from plurivox.web.study.config import Study
from plurivox.web.study.create_study import make_study
from plurivox.web.study.export import export_study
from plurivox.web.study.read_task_and_answer_files import read_tasks
from studies import plain_study, served

PACE = """const play = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () { this.playbackRate = globalThis.pace ?? 1; return play.call(this); };"""
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def tone(seconds: float = 0.4, pitch: int = 440) -> bytes:
    out, rate = io.BytesIO(), 8000
    wave_form = np.sin(np.arange(int(seconds * rate)) * 2 * np.pi * pitch / rate) * 20_000
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(wave_form.astype("<i2").tobytes())
    return out.getvalue()


def box(kind: bytes, *inside: bytes) -> bytes:
    body = b"".join(inside)
    return struct.pack(">I", len(body) + 8) + kind + body


def m4a(handler: bytes = b"soun") -> bytes:
    track = box(b"trak", box(b"mdia", box(b"hdlr", bytes(8), handler, bytes(12))))
    return box(b"ftyp", b"M4A ", bytes(4)) + box(b"mdat", bytes(9)) + box(b"moov", box(b"mvhd", bytes(100)), track)


FRAME = struct.pack(">I", 0xFFFB9064) + bytes(417 - 4)  # MPEG 1 layer 3, 128 kbit/s, 44.1 kHz: 417 bytes
OGG = b"OggS\x00\x02" + bytes(20) + b"\x01\x13"
FLAC = b"fLaC\x00\x00\x00\x22" + bytes(10) + b"\x0a\xc4\x42" + bytes(21)
SOUNDS = {
    "audio/wav": [tone()],
    "audio/mpeg": [FRAME * 3, FRAME, b"ID3\x04\x00\x00\x00\x00\x00\x0a" + bytes(10) + FRAME * 5],
    "audio/ogg": [OGG + b"OpusHead" + bytes(11), OGG + b"\x01vorbis" + bytes(22)],
    "audio/flac": [FLAC],
    "audio/mp4": [m4a()],
}
BAD = [
    b"", b"ID3", b"RIFF", b"<html>", b"<svg onload=alert(1)>", b"MZ" + bytes(90), tone()[:40], OGG + b"\x80theora",
    b"RIFF\x00\x00\x00\x00AVI " + bytes(90), m4a(b"vide"), m4a()[:60], FLAC[:20], FRAME + b"<script>" + bytes(9),
    b"\xff\xfb", struct.pack(">I", 0xFFFFFFFF) * 9, box(b"ftyp", b"qt  "), b"\x00\x00\x00\x00ftypM4A " + bytes(50),
]  # fmt: skip


def test_sound_formats_are_detected_from_bytes() -> None:
    for kind, ones in SOUNDS.items():
        for data in ones:
            assert validate_sound_and_return_media_file(data, "x.html").type == kind
    for data in BAD:
        with pytest.raises(InputError, match=r"x\.wav is not a supported sound"):
            validate_sound_and_return_media_file(data, "x.wav")


def test_truncated_sounds_are_accepted_or_rejected_cleanly() -> None:
    rng = np.random.default_rng(0)
    starts = [data[:200] for ones in SOUNDS.values() for data in ones]
    for n in range(600):
        data = bytearray(starts[n % len(starts)] + bytes(40))
        for place in rng.integers(0, len(data), 6):
            data[place] = rng.integers(256)
        try:
            assert validate_sound_and_return_media_file(bytes(data), "x").type in SOUNDS
        except InputError:
            continue


def test_a_folder_of_sounds_is_imported_and_exported(tmp_path: Path) -> None:
    home = tmp_path / "items"
    home.mkdir()
    (home / "a.wav").write_bytes(tone())
    (home / "b.mp3").write_bytes(FRAME * 3)
    found = list(read_tasks(home, plain_study()))
    assert [(one.name, one.kind_of_task_from_content) for one in found] == [("a.wav", "audio"), ("b.mp3", "audio")]
    (home / "c.ogg").write_bytes(b"<html>")
    with pytest.raises(InputError, match=r"c\.ogg is not a supported sound"):
        list(read_tasks(home, plain_study()))
    (home / "items.csv").write_text("task,file\none,a.wav\n")
    [one] = read_tasks(home, plain_study())
    with served(tmp_path / "s", plain_study(), [one]) as live:
        export_study(live.studio.engine, live.studio.study, tmp_path / "out")
    items = pv.io.read(tmp_path / "out").items
    assert items["audio"].to_list() == [tone()] and items["kind"].to_list() == ["audio"]


def test_range_requests_for_sounds(tmp_path: Path) -> None:
    data = tone()
    with served(
        tmp_path / "s", plain_study(), [NewTask("a", medium=validate_sound_and_return_media_file(data, "a"))]
    ) as live:
        task = live.enter().slots()[0]["task"]
        assert task["kind"] == "audio" and (task["width"], task["height"]) == (0, 0)
        ask = lambda part: live.http.get(task["media"], headers={"Range": part})  # noqa: E731
        whole = live.http.get(task["media"])
        assert whole.content == data and whole.headers["accept-ranges"] == "bytes"
        assert (
            whole.headers["content-type"] == "audio/wav"
            and "media-src 'self'" in whole.headers["content-security-policy"]
        )
        part = ask("bytes=10-19")
        assert (part.status_code, part.content) == (206, data[10:20])
        assert part.headers["content-range"] == f"bytes 10-19/{len(data)}"
        assert ask("bytes=-5").content == data[-5:] and ask(f"bytes={len(data) - 3}-").content == data[-3:]
        assert ask(f"bytes={len(data)}-").status_code == 416 and ask("bytes=-0").status_code == 416
        for odd in ("bytes=5-2", "bytes=0-1,3-4", "bytes=", "bytes=-", "lines=1-2", "bytes=a-b"):
            assert (ask(odd).status_code, ask(odd).content) == (200, data), odd


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Serve a study with three sound tasks."""
    values = {"name": "sounds", "labels": ["bell", "bird", "horn"], "form": "one-label", "per_task": 50, "batch": 3}
    study = Study.model_validate({**values, **SHORT, "completion": {"code": "C1"}})
    new = [NewTask(f"t{i}", medium=validate_sound_and_return_media_file(tone(2, 300 + 100 * i), "t")) for i in range(3)]

    def make(settings: Settings) -> object:
        return make_study(settings, study, new)

    with run(tmp_path_factory.mktemp("sounds") / "one", make) as live:
        yield live


def kinds(said: dict[str, Any]) -> list[str]:
    return [event["kind"] for event in said["events"]]


def test_a_sound_is_played_by_key_and_heard_before_it_is_answered(heard: Any, context: Any, barriers: Any) -> None:
    page = context().new_page()
    page.add_init_script(PACE)
    asked: set[str] = set()
    page.on("request", lambda one: "/media/" in one.url and asked.add(one.url))
    page.goto(heard.join)
    shown(page)
    fits(page)
    assert barriers(page) == []
    key(page, "1", "Enter")
    page.get_by_text("Please listen to the end first").wait_for()
    until(page, lambda: len(asked) == 3)  # the page preloads the sounds of the next two tasks
    page.evaluate("globalThis.pace = 1 / 16")  # so slow that the sound cannot end before the pause
    key(page, "Space")
    page.get_by_role("button", name="Pause").wait_for()
    key(page, "r", "Space")
    page.get_by_role("button", name="Play").wait_for()
    page.evaluate("globalThis.pace = 4")
    key(page, "r")
    page.wait_for_selector(".sounds [aria-valuenow='100']")
    page.get_by_role("button", name="Play").wait_for()
    answer(page, "Enter")
    for _ in range(2):
        shown(page)
        page.get_by_role("button", name="Play").click()
        page.wait_for_selector(".sounds [aria-valuenow='100']")
        page.get_by_role("button", name="Play").wait_for()
        answer(page, "2", "Enter")
    page.get_by_role("heading", name="All done").wait_for()
    first, second, _ = heard.answers()
    order = [kind for kind in kinds(first) if kind in ("play", "pause", "again", "ended", "heard")]
    assert order == ["play", "pause", "again", "pause", "again", "pause", "ended", "heard"]
    [told] = [event for event in second["events"] if event["kind"] == "heard"]
    assert float(told["value"]) > 0.3 and second["events"][0]["by"] == "mouse"  # 2 s at 4x speed: 0.5 s


def test_a_sound_on_a_phone(heard: Any, context: Any, barriers: Any) -> None:
    page = context(**PHONE).new_page()
    page.add_init_script(f"{PACE} globalThis.pace = 4;")
    page.goto(heard.join)
    shown(page)
    fits(page)
    assert barriers(page) == []
    page.tap(".sound")
    page.wait_for_selector(".sounds [aria-valuenow='100']")
    page.get_by_role("button", name="Play").wait_for()
    page.tap(".tile:nth-child(1) .pick")
    old = page.query_selector("main.task")
    page.tap(".next")
    old.wait_for_element_state("hidden")
    saved(page)
    assert heard.answers()[0]["events"][0]["by"] == "touch"


def test_a_sound_above_chips_keeps_its_height_on_a_phone(tmp_path: Path, context: Any) -> None:
    fields = {"name": "chips", "labels": ["bell", "bird", "horn"], "form": "chips", "batch": 1, **SHORT}
    new = [NewTask("t", medium=validate_sound_and_return_media_file(tone(), "t"))]
    with run(tmp_path / "one", lambda settings: make_study(settings, Study.model_validate(fields), new)) as live:
        page = context(**PHONE).new_page()
        page.goto(live.join)
        shown(page)
        fits(page)
        scene, play = page.locator(".scene").bounding_box(), page.locator(".sound").bounding_box()
        assert scene["y"] <= play["y"] and play["y"] + play["height"] <= scene["y"] + scene["height"]
        page.get_by_text("0.0 s of 0.4 s").wait_for()


def test_a_sound_that_cannot_be_played_does_not_block_the_worker(heard: Any, context: Any) -> None:
    page = context().new_page()
    page.route("**/media/*", lambda route: route.fulfill(body=b"nothing", content_type="audio/wav"))
    page.goto(heard.join)
    shown(page)
    page.get_by_text("cannot be played in this browser").wait_for()
    answer(page, "s", "Enter")
