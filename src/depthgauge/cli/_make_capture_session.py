"""`depthgauge make capture-session`: a simulated trinocular rig photographs a scene."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from depthgauge.cli._output import count, progress_bar, warn, write_json

SCENES = ("bathroom", "desk", "kitchen")
"""Written here too, for the shell: the builders take numpy with them."""


@click.command("capture-session")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The session's folder.")
@click.option("--scene", type=click.Choice(SCENES), default="kitchen", show_default=True)
@click.option(
    "--width",
    "width_px",
    type=click.IntRange(160, 8192),
    default=1168,
    show_default=True,
    help="Of the high-resolution images; 4112 is what a 12.4 megapixel camera has.",
)
@click.option(
    "--patterns",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Projected onto the painted scene.",
)
@click.option(
    "--illuminations",
    type=click.IntRange(1, 6),
    default=3,
    show_default=True,
    help="Of the passive images.",
)
@click.option(
    "--poses",
    type=click.IntRange(1, 200),
    default=18,
    show_default=True,
    help="Of the calibration board.",
)
@click.option(
    "--square", "square_m", type=float, default=0.05, show_default=True, help="In metres."
)
@click.option("--projectors", type=click.IntRange(1, 6), default=6, show_default=True)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of the scene's variations, the rig, the patterns and the noise.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 65536),
    default=24,
    show_default=True,
    help="Light paths for each pixel of the passive images.",
)
@click.option("--no-denoise", is_flag=True, help="Keep the path tracer's noise.")
@click.option("--no-passive", is_flag=True, help="Leave out the passive images: they need Mitsuba.")
@click.option("--overwrite", is_flag=True, help="Replace a simulated session of other options.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
def command(
    out: Path, no_denoise: bool, no_passive: bool, overwrite: bool, as_json: bool, **given: Any
) -> None:
    """A capture session as a real trinocular rig makes it, and its hidden exact truth.

    Chessboard views, the painted scene under projected patterns, the scene itself under several
    illuminations. A session that was stopped goes on where it was.

    \b
      depthgauge make capture-session --out session
      depthgauge make capture-session --out small --width 320 --patterns 6 --no-passive
    """
    from depthgauge.synth.sets.capture_session import CaptureOptions, write_capture_session

    options = CaptureOptions(**given, denoise=not no_denoise, passive=not no_passive)
    with progress_bar("photographing") as step:
        made = write_capture_session(out, options, overwrite=overwrite, progress=step)
    for warning in made.warnings:
        warn(warning)
    passive = 0 if no_passive else options.illuminations
    if as_json:
        sizes = {name: list(size) for name, size in made.size_px.items()}
        body: dict[str, Any] = {"folder": str(out), "name": made.session.name, "size_px": sizes}
        body |= {"poses": options.poses, "patterns": options.patterns, "illuminations": passive}
        write_json("-", {**body, "seed": options.seed, "warnings": list(made.warnings)})
        return
    width, height = made.size_px["L"]
    parts = [count(options.poses, "board view"), count(options.patterns, "pattern")]
    parts += [count(passive, "illumination")] * bool(passive)
    click.echo(f"{out}: {made.session.name}, {width}x{height}: {', '.join(parts)}.")
