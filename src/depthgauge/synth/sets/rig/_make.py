"""Makes one scene: proposals until one passes, then its frames, then the last checks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._stereogen import names
from depthgauge.datasets.stereogenbench import SceneRecord, write_scene
from depthgauge.errors import DepthgaugeError
from depthgauge.synth.render.shaded import View
from depthgauge.synth.sets.rig._after import Watch
from depthgauge.synth.sets.rig._film import farthest, film, traced_film
from depthgauge.synth.sets.rig._gaps import FAMILIES
from depthgauge.synth.sets.rig._limits import Rejected
from depthgauge.synth.sets.rig._proposal import SENSOR_MM, Drawn, Proposal, Shoot, draw, placed
from depthgauge.synth.sets.rig._trajectory import Trajectory, connect
from depthgauge.synth.sets.rig._words import describe

REVISION = 1
"""Raised whenever the same options may give other bytes."""
MOST_TRIES = 400
_SPLITS = ("train", "eval")


@dataclass(frozen=True, slots=True)
class SceneOptions:
    """What all scenes of one part of a set have in common: one split, one family."""

    split: str = "eval"
    """`train` or `eval`."""
    shoot: Shoot = field(default_factory=Shoot)
    seed: int = 0
    unseen: float = 0.25
    """Share of eval scenes in maps that training never shows."""
    quality: str = "direct"
    """`direct` or `path`."""
    samples: int = 32
    """Light paths for each pixel of `path`."""
    crf: int = 12
    """Constant rate factor of the colour videos."""

    def to_json(self) -> dict[str, Any]:
        """For the record of the set; nothing else changes its bytes."""
        body = asdict(self)
        return {"revision": REVISION, **body.pop("shoot"), **body}

    def reserved(self, number: int) -> bool:
        """Whether a scene is in a map that training never shows; evenly spread."""
        if self.split != "eval":
            return False
        return int((number + 1) * self.unseen) > int(number * self.unseen)

    def subset(self, number: int) -> str:
        """The folder of a scene below `eval`; empty for `train`."""
        if self.split != "eval":
            return ""
        return names.UNSEEN if self.reserved(number) else names.SEEN


def scene_id(number: int) -> str:
    """The name of a scene's folder.

    >>> scene_id(26)
    'scene_000026'
    """
    return f"scene_{number:06d}"


def folder_of(root: Path, number: int, options: SceneOptions) -> Path | None:
    """The folder of a finished scene, whatever its map is; None if it is not finished."""
    parts = (options.split, options.subset(number), options.shoot.family)
    above = root.joinpath(*(part for part in parts if part))
    found = sorted(above.glob(f"*/{scene_id(number)}/{names.COMPLETE}"))
    return found[0].parent if found else None


def source(number: int, attempt: int, options: SceneOptions) -> np.random.Generator:
    """The random numbers of a proposal."""
    family = list(FAMILIES).index(options.shoot.family)
    return np.random.default_rng(
        [options.seed, _SPLITS.index(options.split), family, number, attempt]
    )


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """A proposal with a trajectory."""

    drawn: Drawn
    proposal: Proposal
    way: Trajectory
    attempt: int
    """Number of the proposal; those before it were rejected."""
    rejected: dict[str, int]
    """How many were, by reason."""


def accepted(number: int, options: SceneOptions) -> Iterator[Accepted]:
    """Accepted proposals of a scene, one after the other: the next one if a film is rejected.

    Raises:
        DepthgaugeError: None of `MOST_TRIES` proposals is left.
    """
    rejected: dict[str, int] = {}
    for attempt in range(MOST_TRIES):
        rng = source(number, attempt, options)
        drawn = draw(rng, options.shoot, reserved=options.reserved(number))
        try:
            proposal = placed(drawn, rng, options.shoot)
            way = connect(proposal, rng, options.shoot.limits)
        except Rejected as why:
            rejected[why.reason] = rejected.get(why.reason, 0) + 1
            continue
        yield Accepted(drawn, proposal, way, attempt, rejected)
    listed = ", ".join(f"{why} {n}" for why, n in rejected.items())
    raise DepthgaugeError(
        f"scene {number}: none of {MOST_TRIES} proposals passed ({listed}); allow other maps or "
        "another family."
    )


def make_scene(root: Path, number: int, options: SceneOptions) -> None:
    """Makes a scene and writes it to its folder, unless it is finished.

    Raises:
        DepthgaugeError: No proposal passes.
        MissingExtra: Embree, PyAV or Mitsuba is not installed.
    """
    if folder_of(root, number, options) is not None:
        return
    for found in accepted(number, options):
        far = farthest(found.proposal, found.way)
        record = record_of(number, found, options)
        watch = Watch(options.shoot.limits, found.way.far_m)
        folder = root / record.path
        frames = watch.over(_frames(found, far, options, number))
        try:
            write_scene(root, record, frames, scale_m=io.depth_scale(far), quality=options.crf)
            watch.conclude(folder, options.shoot.frames)
            return
        except Rejected as why:
            shutil.rmtree(folder)
            found.rejected[why.reason] = found.rejected.get(why.reason, 0) + 1


def _frames(
    found: Accepted, far_m: float, options: SceneOptions, number: int
) -> Iterator[list[View]]:
    size = options.shoot.size_px
    if options.quality == "path":
        seed = (options.seed * 100_003 + number) % (1 << 30)
        return traced_film(found.proposal, found.way, size, far_m, options.samples, seed)
    return film(found.proposal, found.way, size, far_m)


def record_of(number: int, found: Accepted, options: SceneOptions) -> SceneRecord:
    """Everything about a scene but its frames."""
    proposal, way, shoot = found.proposal, found.way, options.shoot
    assets = {
        "generator": f"depthgauge make rig, revision {REVISION}",
        "seed": options.seed,
        "number": number,
        "proposal": found.attempt,
        "rejected_before": dict(found.rejected),
        "layout": proposal.layout,
        "look": proposal.look,
        "quality": options.quality,
        "viewpoints_kept": way.kept,
        "restarts": way.restarts,
        "distance_m": round(way.far_m, 4),
        "limits": shoot.limits.to_json(),
    }
    return SceneRecord(
        scene_id(number),
        f"{proposal.map_name}_{scene_id(number)}",
        number,
        options.split,
        shoot.family,
        proposal.map_name,
        proposal.focal_mm,
        SENSOR_MM,
        shoot.size_px,
        proposal.gaps_cm,
        way.base,
        describe(proposal, way),
        eval_subset=options.subset(number),
        map_path=f"depthgauge/maps/{proposal.map_name}/{proposal.layout}",
        character=proposal.subject.name,
        animation=proposal.action.name,
        aperture_fstop=proposal.fstop,
        fps=shoot.fps,
        assets=assets,
    )
