"""The step that matches the patterns: disparities of both views, with variances."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, field_validator

from depthgauge import io
from depthgauge._options import CommandLine, Options
from depthgauge._progress import Progress
from depthgauge.capture.photographs.movements import Movements, read_movements
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.spacetime.disparity_range import (
    Look,
    disparity_range,
    look,
    matches,
    no_match,
    strangers,
)
from depthgauge.capture.spacetime.engine import (
    Engine,
    Matches,
    Pairs,
    engine_named,
    match_both,
)
from depthgauge.capture.spacetime.levels import Gains, uneven_gains, with_resolved
from depthgauge.capture.spacetime.patterns import (
    SIDES,
    Choice,
    choose,
    crossed_pairs,
    dark_frames,
    lost_on_the_way,
    make_stacks,
    pattern_paths,
    remove_stacks,
    small_size,
)
from depthgauge.capture.step_options import plain_options
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadFile
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session
from depthgauge.types import Map

FULL_SIZE_MPX = 4.0
"""Larger pictures are matched at half their size by default."""
MAPS = ("disparity", "variance", "confidence")
_FEWEST_ROWS = 16
_FEW = 6
"""Patterns used to check whether left and right are swapped."""


class SpacetimeOptions(Options):
    """How the patterns are matched."""

    engine: str = "classical"
    """The engine that matches the patterns."""
    scale: Annotated[float, Field(ge=0.125, le=1.0)] | None = None
    """Scale at which images are matched; by default 1, or 0.5 above 4 Mpx."""
    disparities: Annotated[tuple[float, float] | None, CommandLine(metavar="LEAST MOST")] = None
    """Search range in px of the full image; by default found by a coarse pass."""
    patterns: Annotated[int, Field(ge=1)] | None = None
    """Use only the first patterns, at most this many."""
    memory_gib: float = Field(default=2.0, gt=0.0)
    """Memory for the rows that are matched at once; more is a little faster."""

    @field_validator("disparities")
    @classmethod
    def _rises(cls, value: tuple[float, float] | None) -> tuple[float, float] | None:
        if value is not None and not value[0] < value[1]:
            raise ValueError(f"is {value} but must be two numbers, the smaller one first")
        return value


SPEC = StepSpec(
    "spacetime",
    "Space-time stereo",
    "Computes disparity and its variance from all patterns together, for both views.",
    options=SpacetimeOptions,
    revision=4,
    after=("rectify",),
    after_if_done=("register",),
)


def plan(task: StepTask, options: SpacetimeOptions) -> StepPlan:
    """Matches the pictures of all patterns; writes disparities of both views with variances.

    The folder `spacetime` gets, for `left` and `right`, the maps `_disparity.npy`, `_variance.npy`
    (px^2; NaN where it cannot be computed, as with one pattern) and `_confidence.npy` (0..1, how
    well the patterns agree), one of the matched pictures, and patterns.json. All are in px of these
    pictures, which are smaller than the rectified ones if the scale is below 1.

    Raises:
        BadData: No pattern can be used, nothing matches, or left and right are swapped.
        MissingExtra: No such engine is installed.
    """
    session = task.session
    matcher = engine_named(options.engine)
    pair = read_pair(task.work, "LR")
    choice = choose(session, options.patterns)
    movements = read_movements(task.work)

    def make(folder: Path) -> StepOutput:
        job = _Task(session, pair, movements, matcher, folder, options.memory_gib, task.progress)
        return job.do(choice, options.engine, options.scale, options.disparities)

    return StepPlan(
        make,
        files=pattern_paths(session, choice.names),
        options={**plain_options(options), "dropped": dict(choice.dropped)},
        revision=1000 * SPEC.revision + matcher.revision,
    )


spacetime = step_function(SPEC, plan)


@dataclass(frozen=True, slots=True)
class _Task:
    session: Session
    pair: RectifiedPair
    movements: Movements
    engine: Engine
    folder: Path
    memory_gib: float
    progress: Progress

    def do(
        self,
        choice: Choice,
        engine: str,
        scale: float | None,
        disparities: tuple[float, float] | None,
    ) -> StepOutput:
        width, height = self.pair.left.camera.size_px
        chosen = (1.0 if width * height < 1e6 * FULL_SIZE_MPX else 0.5) if scale is None else scale
        size = small_size(self.pair, chosen)
        ratio = size[0] / width
        pairs, unusable = make_stacks(
            self.session,
            self.pair,
            choice.names,
            size,
            self.folder,
            self.progress,
            self.movements,
        )
        used, found = self._usable(choice, pairs, unusable, disparities, ratio)
        limits = self._limits(found, disparities, ratio)
        places = list(_places(choice, used).values())
        record: dict[str, Any] = {
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
        gains = uneven_gains(pairs, places)
        record["uneven_exposure"] = round(gains.uneven, 4) if gains else 0.0
        tiles = Tiles(self.engine, self.folder, limits, self.memory_gib, gains)
        maps = tiles.match(with_resolved(pairs, places), places, self.progress)
        figures = self._write(maps, record)
        for side, stack in (("left", pairs.left), ("right", pairs.right)):
            shown = np.clip(np.rint(stack[places[0]]), 0, 255).astype(np.uint8)
            io.write_image(self.folder / f"{side}_pattern.png", shown)
        lost = lost_on_the_way(self.session, pairs, _places(choice, used))
        remove_stacks(self.folder)
        tiles.remove()
        return StepOutput(figures, (*_warnings(used, figures), *_evened(gains), *lost))

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
        self.progress("searching the range", 0, 1)
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
        figures = {name: record[name] for name in (*names, "uneven_exposure")}
        return {**figures, "share_with_value": shares, "median_sigma_px": sigmas}


def _places(choice: Choice, used: Choice) -> dict[str, int]:
    return {name: choice.names.index(name) for name in used.names}


def _median_sigma(variance: Map) -> float | None:
    known = variance[np.isfinite(variance)]
    return round(float(np.sqrt(np.median(known))), 6) if known.size else None


def _warnings(used: Choice, figures: dict[str, Any]) -> tuple[str, ...]:
    said = [f"pattern {name} is not used: {reason}." for name, reason in used.dropped.items()]
    if len(used.names) == 1:
        said.append("with one pattern there are no variances; use at least two, better ten.")
    return tuple(said)


def _evened(gains: Gains | None) -> list[str]:
    if gains is None:
        return []
    return [
        f"the brightness of camera L against R changes by up to {100 * gains.uneven:.0f} % from "
        "pattern to pattern; it was evened out. Fix exposure and white balance."
    ]


@dataclass(frozen=True, slots=True)
class Tiles:
    """Both views of pairs, matched in tiles of as many rows as memory allows."""

    engine: Engine
    folder: Path
    """Finished tiles are stored here until `remove`."""
    limits: tuple[int, int]
    """The disparities to search, both ends included."""
    memory_gib: float
    gains: Gains | None = None
    """Even out the exposures of the patterns in use."""

    def match(
        self, pairs: Pairs, places: Sequence[int], progress: Progress | None = None
    ) -> dict[str, Map]:
        """Maps by name: `left_disparity`, `left_variance` ...

        Args:
            pairs: The pictures, perhaps mapped files.
            places: The patterns to use.
            progress: Called after each tile.
        """
        _, height, width = pairs.size
        maps = {
            f"{side}_{name}": np.full((height, width), np.nan, np.float32)
            for side in SIDES
            for name in MAPS
        }
        kept = 2 * width * len(places) * pairs.left.shape[3] * (pairs.left.dtype.itemsize - 1)
        tiles = list(self.plan((len(places), height, width), kept))
        for number, (rows, wide) in enumerate(tiles):
            for side, found in self._tile(pairs, places, rows, wide).items():
                for name in MAPS:
                    maps[f"{side}_{name}"][rows] = getattr(found, name)
            if progress:
                progress("matching", number + 1, len(tiles))
        return maps

    def plan(
        self, size: tuple[int, int, int], more_bytes: int = 0
    ) -> Iterator[tuple[slice, slice]]:
        """Rows of each tile, and the rows used to match them: some more on both sides.

        Args:
            size: Patterns, height and width.
            more_bytes: What a row of pictures with more than 8 bits needs besides.
        """
        height, margin = size[1], self.engine.margin_rows
        row_bytes = self.engine.bytes_per_row(size, self.limits) + more_bytes
        at_once = int(self.memory_gib * 2**30 / row_bytes)
        if at_once >= height:
            yield slice(0, height), slice(0, height)
            return
        count = math.ceil(height / max(at_once - 2 * margin, _FEWEST_ROWS))
        for k in range(count):
            start, stop = height * k // count, height * (k + 1) // count
            yield slice(start, stop), slice(max(start - margin, 0), min(stop + margin, height))

    def remove(self) -> None:
        """Removes the finished tiles."""
        for path in self.folder.glob("tile-*.npy"):
            path.unlink()

    def _tile(
        self, pairs: Pairs, places: Sequence[int], rows: slice, wide: slice
    ) -> dict[str, Matches]:
        """Both views of a tile, by side."""
        path = self.folder / f"tile-{rows.start}-{rows.stop}.npy"
        try:
            return _sides(io.read_map(path))
        except BadFile:
            pass  # not done yet
        part = pairs.rows(wide)
        chosen = list(places)
        part = Pairs(part.left[chosen], part.right[chosen], part.left_known, part.right_known)
        part = self.gains.applied(part) if self.gains else part
        kept = slice(rows.start - wide.start, rows.stop - wide.start)
        views = [view.rows(kept) for view in match_both(self.engine, part, self.limits)]
        values = np.concatenate([getattr(view, name) for view in views for name in MAPS])
        io.write_map(path, values)
        return _sides(values)


def _sides(values: Map) -> dict[str, Matches]:
    """The maps of both views from one array, one below the other."""
    maps = np.split(values, len(SIDES) * len(MAPS))
    count = len(MAPS)
    return {side: Matches(*maps[n * count : (n + 1) * count]) for n, side in enumerate(SIDES)}
