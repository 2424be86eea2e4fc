"""What owners of a study are told if anyone can enter it by a platform's link, and which line of study.toml to change."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from plurivox.web.study.completion_pay_exclusion_config import (
    ADMITTED_IDS_SETTING,
    PLATFORM_TITLE,
    PLATFORM_UNIT,
    PlatformName,
)
from plurivox.web.study.config import Study


def alert_and_advice_if_platform_admits_everyone(study: Study, platform: PlatformName) -> tuple[str, str]:
    """Return what the owner's pages say about a platform whose link lets anyone in, and what the owner can do."""
    title, setting, unit = PLATFORM_TITLE[platform], ADMITTED_IDS_SETTING[platform], PLATFORM_UNIT[platform]
    return (
        f"Anyone can enter this study by a link of {title}, with an invented ID too.",
        f"Add the ID of your {unit} at {title} on the page Invitations, or as {setting} in study.toml. If you do not use "
        f"{title}, write platforms = [{_other_platforms(study, platform)}] in study.toml and restart the server.",
    )


def warning_that_platform_admits_everyone(folder: Path, study: Study, platform: PlatformName) -> str:
    """Return the warning that anyone can enter a study by a platform's link, and which line of study.toml to change."""
    file, title = folder / "study.toml", PLATFORM_TITLE[platform]
    lines = _first_and_last_line_of_platforms(file.read_text(encoding="utf-8").splitlines())
    unit, others = PLATFORM_UNIT[platform], _other_platforms(study, platform)
    ids = f'{ADMITTED_IDS_SETTING[platform]} = ["ID OF YOUR {unit.upper()}"]'
    if lines is None:
        on = f'add at the top of {file} the two lines:\n    platforms = ["{platform}"]\n    {ids}\n '
        off = f"add at the top of {file}"
    else:
        first, last = lines
        on = f"add after line {last} of {file}: {ids} "
        off = f"change {f'line {first}' if first == last else f'lines {first} to {last}'} of {file} to"
    return (
        f"WARNING: anyone can enter the study {study.name} by a link of {title}, with an invented ID too, because study.toml "
        f"does not say which {unit} at {title} is yours.\n"
        f"  If you recruit at {title}, {on} and restart, or add the ID on the page Invitations.\n"
        f"  If you do not, {off}: platforms = [{others}]  and restart."
    )


def _first_and_last_line_of_platforms(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the lines of study.toml, from 1, on which the setting `platforms` begins and ends; None if it is not set.

    >>> _first_and_last_line_of_platforms(['name = "pets"', "platforms = [", '  "prolific",', "]", "batch = 3"])
    (2, 4)
    """
    for last in range(1, len(lines) + 1):
        try:
            is_set = "platforms" in tomllib.loads("\n".join(lines[:last]))
        except tomllib.TOMLDecodeError:  # within a value of several lines
            continue
        if is_set:
            return max(
                n for n in range(1, last + 1) if lines[n - 1].partition("=")[0].strip(" \t\"'") == "platforms"
            ), last
    return None


def _other_platforms(study: Study, platform: PlatformName) -> str:
    """Return the other platforms of a study as they are written in a list in study.toml."""
    return ", ".join(f'"{one}"' for one in study.platforms if one != platform)
