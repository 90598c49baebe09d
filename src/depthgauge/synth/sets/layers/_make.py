"""Makes one pair and writes it: what a worker does."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from depthgauge.datasets.layered import is_written, write_sample
from depthgauge.synth.scene.material import KINDS
from depthgauge.synth.sets.layers._stage import StageOptions, stage
from depthgauge.synth.sets.layers._truth import disparity_range, truth_of
from depthgauge.synth.sets.layers._views import photograph, views_of
from depthgauge.types import Rig

REVISION = 2
"""Raised whenever the same options may give other bytes."""


@dataclass(frozen=True, slots=True)
class PairOptions:
    """What every pair of a set has in common."""

    stage: StageOptions = field(default_factory=StageOptions)
    samples: int = 32
    """Light paths for each pixel."""
    denoise: bool = True
    layers: int = 4
    """Layers that are stored."""

    def to_json(self) -> dict[str, Any]:
        """For the record of the set; nothing else changes its bytes."""
        body = asdict(self)
        return {"revision": REVISION, **body.pop("stage"), **body}


def sample_id(number: int) -> str:
    """The name of a pair's folder.

    >>> sample_id(7)
    '00007'
    """
    return f"{number:05d}"


def make_pair(root: Path, number: int, options: PairOptions) -> str:
    """Makes a pair and writes it to its folder, unless it is complete.

    Returns:
        A warning, for instance that pictures are rendered slowly; empty if there is none.

    Raises:
        MissingExtra: Mitsuba, Embree or the denoiser is not installed.
        DepthgaugeError: No camera sees enough glass.
    """
    if is_written(root, sample_id(number)):
        return ""
    staged = stage(number, options.stage)
    views = views_of(staged, options.layers, options.stage.rough)
    truth, solved = truth_of(views)
    seed = options.stage.seed * 100_000 + number
    pictures = photograph(
        staged, views, samples=options.samples, clean=options.denoise, seed=seed % (1 << 30)
    )
    pair = staged.cameras
    cameras = {side: pair.at(side, later=False) for side in ("left", "right")}
    later = pair.at("left", later=True)
    facts = {
        **staged.facts,
        "samples": options.samples,
        "denoise": options.denoise,
        "rough": options.stage.rough,
        "variant": pictures.variant,
        "exposure": round(pictures.exposure, 6),
        "left_next_world_from_camera": later.world_from_camera.tolist(),
        "objects": list(staged.scene.object_names),
        "solved": solved,
    }
    write_sample(
        root,
        sample_id(number),
        pictures.images,
        truth,
        rig=Rig(cameras, pair.baseline_m),
        disparity_range=disparity_range(truth["layered_disparity"]),
        materials=KINDS,
        facts=facts,
    )
    return pictures.warning
