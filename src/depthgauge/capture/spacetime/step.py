"""The step that matches the patterns: disparities of both views, with variances."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.spacetime.disparity_range import (
    Look,
    disparity_range,
    look,
    matches,
    no_match,
    strangers,
)
from depthgauge.capture.spacetime.engine import Engine, Pairs, engine_named
from depthgauge.capture.spacetime.patterns import (
    SIDES,
    Choice,
    choose,
    crossed_pairs,
    dark_frames,
    make_stacks,
    remove_stacks,
    small_size,
)
from depthgauge.capture.spacetime.tiles import Tiles
from depthgauge.capture.steps import Made, Progress, Step, do_step, read_step
from depthgauge.errors import Misuse
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session
from depthgauge.types import Map

NAME = "spacetime"
REVISION = 2
FULL_SIZE_MPX = 4.0
"""Larger pictures are matched at half their size, unless told otherwise."""
_FEW = 6
"""Patterns that tell whether left and right are swapped."""


def spacetime(
    session: Session,
    work: Path,
    *,
    engine: str = "classical",
    scale: float | None = None,
    disparities: tuple[float, float] | None = None,
    patterns: int | None = None,
    memory_gib: float = 2.0,
    progress: Progress | None = None,
    again: bool = False,
) -> Step:
    """Matches the pictures of all patterns; writes disparities of both views with variances.

    The folder `spacetime` gets, for `left` and `right`, the maps `_disparity.npy`, `_variance.npy`
    (px^2; NaN where it cannot be told, as with one pattern) and `_confidence.npy` (0..1, how well
    the patterns agree), one of the matched pictures, and patterns.json. All are in px of these
    pictures, which are smaller than the rectified ones where the scale is.

    Args:
        session: The session.
        work: Its work folder, in which the step `rectify` is done.
        engine: Name of the matching engine.
        scale: Size at which pictures are matched, up to 1; None: 1 below 4 Mpx, else 0.5.
        disparities: Least and largest disparity, in px of the rectified pictures; None: they are
            found in small pictures first.
        patterns: Take only so many patterns, the first ones.
        memory_gib: What a tile of rows may need; more rows at once are a little faster.
        progress: Is told what is being done.
        again: Do it even if nothing has changed.

    Raises:
        BadData: No pattern can be used, nothing matches, or left and right are swapped.
        MissingExtra: No such engine is installed.
        Misuse: An option makes no sense.
    """
    _check_options(scale, disparities, patterns, memory_gib)
    matcher = engine_named(engine)
    pair = read_pair(work, "LR")
    choice = choose(session, patterns)
    options = {
        "engine": engine,
        "scale": scale,
        "disparities": None if disparities is None else [float(d) for d in disparities],
        "patterns": patterns,
        "memory_gib": memory_gib,
    }

    def make(folder: Path) -> Made:
        task = _Task(session, pair, matcher, folder, memory_gib, progress)
        return task.do(choice, engine, scale, disparities)

    files = [session.pattern_images(c)[name] for c in SIDES.values() for name in choice.names]
    return do_step(
        work,
        NAME,
        make,
        options={**options, "dropped": dict(choice.dropped)},
        after=[read_step(work, "rectify")],
        files=files,
        revision=1000 * REVISION + matcher.revision,
        again=again,
    )


@dataclass(frozen=True, slots=True)
class _Task:
    session: Session
    pair: RectifiedPair
    engine: Engine
    folder: Path
    memory_gib: float
    progress: Progress | None

    def do(
        self,
        choice: Choice,
        engine: str,
        scale: float | None,
        disparities: tuple[float, float] | None,
    ) -> Made:
        width, height = self.pair.left.camera.size_px
        chosen = (1.0 if width * height < 1e6 * FULL_SIZE_MPX else 0.5) if scale is None else scale
        size = small_size(self.pair, chosen)
        ratio = size[0] / width
        pairs, unusable = make_stacks(
            self.session, self.pair, choice.names, size, self.folder, self.progress
        )
        used, found = self._usable(choice, pairs, unusable, disparities, ratio)
        limits = self._limits(found, disparities, ratio)
        places = list(_places(choice, used).values())
        record = {
            "schema": 1,
            "engine": engine,
            "uncertainty": self.engine.uncertainty,
            "scale": ratio,
            "size_px": list(size),
            "disparities": list(limits),
            "used": list(used.names),
            "dropped": dict(used.dropped),
            "agreement": {name: round(found.agreement[name], 4) for name in used.names},
        }
        tiles = Tiles(self.engine, self.folder, limits, self.memory_gib)
        maps = tiles.match(pairs, places, self.progress)
        figures = self._write(maps, record)
        for side, stack in (("left", pairs.left), ("right", pairs.right)):
            io.write_image(self.folder / f"{side}_pattern.png", np.asarray(stack[places[0]]))
        remove_stacks(self.folder)
        tiles.remove()
        return Made(figures, _warnings(used, figures))

    def _usable(
        self,
        choice: Choice,
        pairs: Pairs,
        unusable: dict[str, str],
        disparities: tuple[float, float] | None,
        ratio: float,
    ) -> tuple[Choice, Look]:
        """The patterns that can be used, and a first look at their matches."""
        used = choice.without(unusable)
        used.need_one(self.session)
        used = used.without(dark_frames(pairs, _places(choice, used)))
        used.need_one(self.session)
        if disparities is None:
            most = pairs.size[2] / 2
            middle = -self.pair.rig().principal_offset_px * ratio
            searched = (middle - most, middle + most)
        else:
            searched = (disparities[0] * ratio, disparities[1] * ratio)
        if self.progress:
            self.progress("looking for the range", 0, 1)
        found = look(pairs, _places(choice, used), searched)
        if not matches(found):
            raise no_match(self.session, found, self._crossed(used, searched, pairs.size))
        strange = strangers(found)
        if strange:
            used = used.without(strange)
            used.need_one(self.session)
            found = look(pairs, _places(choice, used), searched)
        return used, found

    def _crossed(
        self, used: Choice, searched: tuple[float, float], size: tuple[int, int, int]
    ) -> Look | None:
        """What matches after exchanging the cameras' pictures of some patterns."""
        names = used.names[:_FEW]
        crossed = crossed_pairs(self.session, self.pair, names, (size[2], size[1]))
        if crossed is None:
            return None
        return look(crossed, {name: t for t, name in enumerate(names)}, searched)

    def _limits(
        self, found: Look, disparities: tuple[float, float] | None, ratio: float
    ) -> tuple[int, int]:
        if disparities is not None:
            return math.floor(disparities[0] * ratio), math.ceil(disparities[1] * ratio)
        offset_px = self.pair.rig().principal_offset_px * ratio
        return disparity_range(self.session, found, offset_px)

    def _write(self, maps: dict[str, Map], record: dict[str, Any]) -> dict[str, Any]:
        for name, values in maps.items():
            io.write_map(self.folder / f"{name}.npy", values)
        io.write_text(self.folder / "patterns.json", json.dumps(record, indent=2) + "\n")
        names = ("engine", "uncertainty", "scale", "size_px", "disparities", "used", "dropped")
        shares = {
            side: round(float(np.isfinite(maps[f"{side}_disparity"]).mean()), 6) for side in SIDES
        }
        sigmas = {side: _median_sigma(maps[f"{side}_variance"]) for side in SIDES}
        figures = {name: record[name] for name in names}
        return {**figures, "share_with_value": shares, "median_sigma_px": sigmas}


def _check_options(
    scale: float | None,
    disparities: tuple[float, float] | None,
    patterns: int | None,
    memory_gib: float,
) -> None:
    if scale is not None and not 0 < scale <= 1:
        raise Misuse(f"scale is above 0 and at most 1, found {scale}")
    if disparities is not None and not -math.inf < disparities[0] < disparities[1] < math.inf:
        raise Misuse(f"disparities are a smaller and a larger number, found {disparities}")
    if patterns is not None and patterns < 1:
        raise Misuse(f"patterns is at least 1, found {patterns}")
    if not memory_gib > 0:
        raise Misuse(f"memory_gib is above 0, found {memory_gib}")


def _places(choice: Choice, used: Choice) -> dict[str, int]:
    return {name: choice.names.index(name) for name in used.names}


def _median_sigma(variance: Map) -> float | None:
    known = variance[np.isfinite(variance)]
    return round(float(np.sqrt(np.median(known))), 6) if known.size else None


def _warnings(used: Choice, figures: dict[str, Any]) -> tuple[str, ...]:
    said = [f"pattern {name} is not used: {reason}." for name, reason in used.dropped.items()]
    if len(used.names) == 1:
        said.append("with one pattern there are no variances; two are the least, ten are good.")
    return tuple(said)
