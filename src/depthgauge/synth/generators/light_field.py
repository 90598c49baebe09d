"""`make light-field`: the stereo scenes in the layout of the 4D light field benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec


class LightFieldOptions(GeneratorOptions):
    """Scenes, cameras and resolution."""

    scenes: Annotated[tuple[str, ...], CommandLine("--scene", metavar="NAME")] = ()
    """Which scene: boxes, clutter, curved, fence, slanted, spheres, staircase or textureless; may
    be repeated. All of them by default."""
    size_px: Annotated[int, CommandLine("--size")] = Field(default=512, ge=32, le=4096)
    """Width and height of every view in px."""
    views: int = Field(default=9, ge=3, le=33)
    """Number of views along a side of the camera grid; odd."""
    scale: int = Field(default=10, ge=1, le=20)
    """How many times finer the high-resolution truth is than the views."""
    baseline_mm: float | None = None
    """Distance between neighbouring cameras."""
    focus_m: float | None = Field(default=None, allow_inf_nan=True)
    """Distance of the plane that does not move between views."""
    range_px: Annotated[float | None, CommandLine("--range", metavar="PX")] = None
    """Instead of a baseline: disparities range from about -PX to PX.  [default: 1.8 at 512 px]"""
    seed: int = Field(default=0, ge=0)
    """Seed of the image noise."""


SPEC = GeneratorSpec(
    "light-field",
    "Our scenes seen by a grid of cameras, in the layout of the 4D light field benchmark.",
    LightFieldOptions,
    details="""
    Views, parameters.cfg, truth at two resolutions, and the masks of edges, surfaces and thin
    structures, all from the geometry. A scene takes a minute or two at full size.

    \b
      depthgauge make light-field --scene clutter --out fields
      depthgauge make light-field --size 256 --views 5 --scale 4 --out small
    """,
    activity="making light fields",
)


def make(
    out: Path, options: LightFieldOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the scenes below `out/other`."""
    from depthgauge.synth.sets import light_field, stereo_scenes

    names = tuple(dict.fromkeys(options.scenes)) or stereo_scenes.SCENES
    baseline_m = None if options.baseline_mm is None else options.baseline_mm / 1000
    light_field.write_light_fields(
        out,
        names,
        size_px=options.size_px,
        views=options.views,
        scale=options.scale,
        seed=options.seed,
        baseline_m=baseline_m,
        focus_m=options.focus_m,
        range_px=options.range_px,
        progress=progress,
        overwrite=overwrite,
    )
    size, views, fine = options.size_px, options.views, options.scale * options.size_px
    facts = {"size_px": size, "views": views, "scale": options.scale, "seed": options.seed}
    count = "1 light field" if len(names) == 1 else f"{len(names)} light fields"
    return GeneratedData(
        out,
        tuple(f"{light_field.CATEGORY}/{name}" for name in names),
        f"{count} of {views}x{views} views of {size}x{size}, truth of {fine}x{fine}",
        facts,
    )
