"""`make stratified`: scenes with one challenge each, which grows across the image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.errors import Misuse
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec

SceneName = Literal[
    "backgammon",
    "dots",
    "pyramids",
    "stripes",
    "camouflage",
    "glass",
    "gloss",
    "slant",
    "repetition",
    "decalibration",
    "exposure",
]
"""Repeated here, so that a shell can complete them without loading NumPy."""
Axis = Annotated[str | None, CommandLine(metavar="A:B:N")]
_COMMON = ("scenes", "size_px", "views", "scale", "stereo", "seed", "sensor_noise")


class StratifiedOptions(GeneratorOptions):
    """Scenes, resolution, and how far each challenge goes."""

    scenes: Annotated[tuple[SceneName, ...], CommandLine("--scene")] = ()
    """Which scene; may be repeated. All of them by default."""
    size_px: Annotated[int, CommandLine("--size")] = Field(default=512, ge=64, le=4096)
    """Width and height of the images in px."""
    views: int = Field(default=9, ge=1, le=17)
    """Number of views along a side of the camera grid; odd."""
    scale: int = Field(default=10, ge=1, le=16)
    """How many times larger the high-resolution truth is."""
    stereo: bool = False
    """Write stereo pairs instead of light fields."""
    seed: int = Field(default=0, ge=0)
    """Seed of textures and noise."""
    sensor_noise: float | None = Field(default=None, ge=0, le=255)
    """Standard deviation of the sensors' noise in grey levels; by default each scene's own."""
    gap: Axis = None
    """backgammon, camouflage: gaps as a share of the distance between peaks, from top to bottom."""
    noise: Axis = None
    """dots: variance of the noise, of intensities 0..1, one level for each cell."""
    diameter: Axis = None
    """dots: diameters of the dots in px of 512, smallest first."""
    stripe_texture: Axis = None
    """stripes: contrast of the stripes' texture, from top to bottom."""
    background_texture: Axis = None
    """stripes: contrast between the stripes, from right to left."""
    clarity: Axis = None
    """glass: clarity from 0 (frosted) to 1 (clear)."""
    mirror: Axis = None
    """gloss: share of the light that is reflected."""
    gradient: Axis = None
    """slant: gradient of the disparity in px per px."""
    period: Axis = None
    """repetition: period of the pattern, in widths of the disparity range."""
    unique: Axis = None
    """repetition: share of the texture that does not repeat."""
    offset: Axis = None
    """decalibration: offset of views along y in px."""
    stops: Axis = None
    """exposure: stops by which views are darker."""

    def axes(self) -> dict[str, str]:
        """The axes that are given."""
        values = self.model_dump(exclude=set(_COMMON))
        return {axis: value for axis, value in values.items() if value is not None}


SPEC = GeneratorSpec(
    "stratified",
    "Scenes with one challenge each, which grows across the image, with exact truth.",
    StratifiedOptions,
    details="""
    Light fields are written in the layout of the 4D light-field benchmark, pairs as our own dataset
    folder. An axis A:B:N goes from A to B in N bins.

    \b
      depthgauge make stratified --out light-fields
      depthgauge make stratified --scene dots --noise 0:0.2:15 --out light-fields
      depthgauge make stratified --stereo --out pairs
    """,
    activity="making scenes",
    revision=2,
)


def make(
    out: Path, options: StratifiedOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes light fields, or stereo pairs."""
    from depthgauge.synth.sets import stratified

    names = tuple(dict.fromkeys(options.scenes)) or stratified.SCENES
    size, axes = options.size_px, options.axes()
    same: dict[str, Any] = {"names": names, "size_px": size, "seed": options.seed, "axes": axes}
    same |= {"progress": progress, "overwrite": overwrite, "sensor_noise": options.sensor_noise}
    facts: dict[str, Any] = {"size_px": [size, size], "seed": options.seed}
    facts |= {"stereo": options.stereo, "axes": axes}
    if options.sensor_noise is not None:
        facts["sensor_noise"] = options.sensor_noise
    if options.stereo:
        for name in ("views", "scale"):
            if name in options.model_fields_set:
                raise Misuse(f"--{name} is for light fields; leave it out with --stereo.")
        stratified.write_pairs(out, **same)
        count, made_of = "stereo pair", ""
    else:
        stratified.write_scenes(out, views=options.views, scale=options.scale, **same)
        count, made_of = "light field", f", {options.views}x{options.views} views"
        facts |= {"views": [options.views, options.views], "scale": options.scale}
    what = f"{len(names)} {count}{'s' * (len(names) != 1)}"
    return GeneratedData(out, names, f"{what} of {size}x{size}{made_of} with exact truth", facts)
