"""Bracketed exposures of a session: which there are, and what is lost even after merging them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.capture.photographs.brackets import PatternFile, pattern_files
from depthgauge.capture.photographs.exposure import exposure_of
from depthgauge.errors import BadFile
from depthgauge.sessions import Session
from depthgauge.types import Image


@dataclass(frozen=True, slots=True, eq=False)
class CameraBrackets:
    """The bracketed patterns of a camera."""

    exposures: Mapping[str, tuple[str, ...]]
    """By pattern, the shortest first, as the files' names have them."""
    single: tuple[str, ...]
    """Patterns without a bracket."""
    saturated: Mapping[str, float]
    """By pattern: the share of pixels that are saturated in the merged picture."""
    dark: Mapping[str, float]
    """By pattern: the share of pixels that are nearly black even in the longest exposure."""

    def usual(self) -> tuple[str, ...]:
        """The exposures that most patterns have; of equally frequent ones the longest list."""
        sets = list(self.exposures.values())
        return max(sets, key=lambda one: (sets.count(one), len(one), one))

    def to_json(self) -> dict[str, Any]:
        """Plain data for programs."""
        return {
            "exposures": {name: list(own) for name, own in self.exposures.items()},
            "not_bracketed": list(self.single),
            "saturated_after_merging": {n: round(s, 6) for n, s in self.saturated.items()},
            "dark_in_longest": {n: round(s, 6) for n, s in self.dark.items()},
        }


def look_at_brackets(session: Session, camera: str, say: Progress) -> CameraBrackets | None:
    """Merges a camera's brackets as step `register` does; None if there are none.

    Patterns that cannot be read are left out.

    Raises:
        BadData: A pattern has both a bracket and a single photograph, or an exposure of 0.
    """
    files = pattern_files(session, camera)
    brackets = {name: file for name, file in files.items() if file.exposures}
    if not brackets:
        return None
    saturated, dark = {}, {}
    for number, (name, file) in enumerate(brackets.items()):
        try:
            saturated[name] = exposure_of(file.read()).saturated
            dark[name] = exposure_of(_longest(file)).dark
        except BadFile:
            continue
        say(f"merging pattern/{camera}", number + 1, len(brackets))
    return CameraBrackets(
        {name: tuple(p.stem.rpartition("@")[2] for p in f.paths) for name, f in brackets.items()},
        tuple(name for name in files if name not in brackets),
        saturated,
        dark,
    )


def _longest(file: PatternFile) -> Image:
    return io.read_image(file.paths[int(np.argmax(file.exposures))])
