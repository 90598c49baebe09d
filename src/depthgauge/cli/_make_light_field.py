"""`depthgauge make light-field`: our scenes in the layout of the 4D light field benchmark."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._output import count, progress_bar, write_json


@click.command("light-field")
@click.option(
    "--scene",
    "scenes",
    multiple=True,
    metavar="NAME",
    help="boxes, clutter, curved, fence, slanted, spheres, staircase or textureless; may be "
    "repeated. All of them unless said.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder; scenes go to OUT/other.",
)
@click.option(
    "--size",
    type=click.IntRange(32, 4096),
    default=512,
    show_default=True,
    help="Width and height of every view, in px.",
)
@click.option(
    "--views",
    type=click.IntRange(3, 33),
    default=9,
    show_default=True,
    help="Along a side of the camera grid; odd.",
)
@click.option(
    "--scale",
    type=click.IntRange(1, 20),
    default=10,
    show_default=True,
    help="How many times finer than the views the truth of high resolution is.",
)
@click.option("--baseline-mm", type=float, help="Distance between neighbouring cameras.")
@click.option(
    "--focus-m", type=float, help="Distance of the plane that does not move between views."
)
@click.option(
    "--range",
    "range_px",
    type=float,
    metavar="PX",
    help="In place of a baseline: disparities go from about -PX to PX.  [default: 1.8 at 512 px]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the image noise.")
@click.option("--overwrite", is_flag=True, help="Replace scenes that are there already.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
def command(
    scenes: tuple[str, ...],
    out: Path,
    size: int,
    views: int,
    scale: int,
    baseline_mm: float | None,
    focus_m: float | None,
    range_px: float | None,
    seed: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Our scenes through a grid of cameras, as the 4D light field benchmark has them.

    Views, parameters.cfg, truth at two resolutions, and the masks of edges, surfaces and thin
    structures, all from the geometry. A scene takes a minute or two at full size.

    \b
      depthgauge make light-field --scene clutter --out fields
      depthgauge make light-field --size 256 --views 5 --scale 4 --out small
    """
    from depthgauge.synth.sets.light_field import CATEGORY, write_light_fields
    from depthgauge.synth.sets.stereo_scenes import SCENES

    names = tuple(dict.fromkeys(scenes)) or SCENES
    with progress_bar("making light fields") as step:
        write_light_fields(
            out,
            names,
            size_px=size,
            views=views,
            scale=scale,
            seed=seed,
            baseline_m=None if baseline_mm is None else baseline_mm / 1000,
            focus_m=focus_m,
            range_px=range_px,
            progress=step,
            overwrite=overwrite,
        )
    if as_json:
        made = {"folder": str(out), "samples": [f"{CATEGORY}/{name}" for name in names]}
        numbers = {"size_px": size, "views": views, "scale": scale, "seed": seed}
        write_json("-", {**made, **numbers})
        return
    made_of = f"{views}x{views} views of {size}x{size}, truth of {scale * size}x{scale * size}"
    click.echo(f"{out}: {count(len(names), 'light field')} of {made_of}.")
