"""`make stereo-scenes`: eight stereo scenes in closed form."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec


class StereoScenesOptions(GeneratorOptions):
    """Size and noise of the images."""

    width: int = Field(default=480, ge=32, le=8192)
    """Width of the images in px."""
    height: int = Field(default=360, ge=32, le=8192)
    """Height of the images in px."""
    seed: int = Field(default=0, ge=0)
    """Seed of the image noise."""


SPEC = GeneratorSpec(
    "stereo-scenes",
    "Eight small stereo scenes: slanted, curved, thin, textureless, occluded surfaces.",
    StereoScenesOptions,
    details="""
    \b
      depthgauge make stereo-scenes --out scenes
      depthgauge run stereo-scenes --data scenes -m sgbm -m bm --out runs/scenes
    """,
    activity="making scenes",
)


def make(
    out: Path, options: StereoScenesOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the scenes as a dataset folder."""
    from depthgauge.synth.sets import stereo_scenes

    size_px = (options.width, options.height)
    stereo_scenes.write_scenes(
        out, size_px=size_px, seed=options.seed, progress=progress, overwrite=overwrite
    )
    names = stereo_scenes.SCENES
    return GeneratedData(
        out,
        names,
        f"{len(names)} scenes of {options.width}x{options.height} with exact truth",
        {"size_px": list(size_px), "seed": options.seed},
        next_command=(
            *("run", "stereo-scenes", "--data", out, "-m", "sgbm", "--out", Path(f"{out}-run")),
        ),
    )
