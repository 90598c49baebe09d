"""`depthgauge make stratified`: scenes with one challenge each, which grows across the image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from depthgauge.cli._output import count, progress_bar, write_json
from depthgauge.errors import Misuse

SCENES = (
    *("backgammon", "dots", "pyramids", "stripes"),
    *("glass", "gloss", "slant", "repetition", "decalibration", "exposure"),
)
"""Written here too, for the shell: the generators take numpy with them."""
AXES = {
    "gap": ("backgammon", "gaps as a share of the distance between peaks, from top to bottom"),
    "noise": ("dots", "variance of the noise, of intensities 0..1, one level for each cell"),
    "diameter": ("dots", "diameters of the dots in px of 512, smallest first"),
    "stripe_texture": ("stripes", "contrast of the stripes' texture, from top to bottom"),
    "background_texture": ("stripes", "contrast between the stripes, from right to left"),
    "clarity": ("glass", "from 0, frosted, to 1, clear"),
    "mirror": ("gloss", "share of the light that is reflected"),
    "gradient": ("slant", "of the disparity, in px per px"),
    "period": ("repetition", "of the pattern, in widths of the disparity range"),
    "offset": ("decalibration", "of views along y, in px"),
    "stops": ("exposure", "by which views are darker"),
}
"""Of each axis the scene that has it, and what it is."""


def _axis_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for axis, (scene, what) in reversed(AXES.items()):
        name = "--" + axis.replace("_", "-")
        command = click.option(name, axis, metavar="A:B:N", help=f"{scene}: {what}.")(command)
    return command


@click.command("stratified")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder.")
@click.option(
    "--scene",
    "scenes",
    type=click.Choice(SCENES),
    multiple=True,
    help="Which scene; may be repeated. All of them by default.",
)
@click.option("--size", type=click.IntRange(64, 4096), default=512, show_default=True)
@click.option(
    "--views", type=click.IntRange(1, 17), default=9, show_default=True, help="Along a side."
)
@click.option(
    "--scale",
    type=click.IntRange(1, 16),
    default=10,
    show_default=True,
    help="How many times as large the truth of the high resolution is.",
)
@click.option("--stereo", is_flag=True, help="Stereo pairs in place of light fields.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of textures and noise.")
@click.option("--overwrite", is_flag=True, help="Replace what is there already.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
@_axis_options
def command(
    out: Path,
    scenes: tuple[str, ...],
    size: int,
    views: int,
    scale: int,
    stereo: bool,
    seed: int,
    overwrite: bool,
    as_json: bool,
    **axes: str | None,
) -> None:
    """Scenes with one challenge each, which grows across the image, with exact truth.

    Light fields are written in the layout of the 4D light-field benchmark; pairs as a dataset
    folder of our own. An axis A:B:N goes from A to B in N bins.

    \b
      depthgauge make stratified --out light-fields
      depthgauge make stratified --scene dots --noise 0:0.2:15 --out light-fields
      depthgauge make stratified --stereo --out pairs
    """
    from depthgauge.synth.sets.stratified import write_pairs, write_scenes

    names = tuple(dict.fromkeys(scenes)) or SCENES
    given = {axis: values for axis, values in axes.items() if values is not None}
    with progress_bar("making scenes") as step:
        same: dict[str, Any] = {"names": names, "size_px": size, "seed": seed, "axes": given}
        same |= {"progress": step, "overwrite": overwrite}
        if stereo:
            _refuse("views", "scale")
            write_pairs(out, **same)
        else:
            write_scenes(out, views=views, scale=scale, **same)
    if as_json:
        made = {"folder": str(out), "samples": list(names), "size_px": [size, size], "seed": seed}
        made |= {"stereo": stereo, "axes": given}
        write_json("-", made if stereo else {**made, "views": [views, views], "scale": scale})
        return
    made_of = "" if stereo else f", {views}x{views} views"
    what = count(len(names), "stereo pair" if stereo else "light field")
    click.echo(f"{out}: {what} of {size}x{size}{made_of} with exact truth.")


def _refuse(*names: str) -> None:
    """Options that a stereo pair has no use for."""
    ctx = click.get_current_context()
    for name in names:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise Misuse(f"--{name} is for light fields; leave it out with --stereo.")
