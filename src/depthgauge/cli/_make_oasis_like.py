"""`depthgauge make oasis-like`: single pictures annotated by simulated people."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._output import count, in_shell, program_name, progress_bar, say, write_json


@click.command("oasis-like")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The dataset's folder.")
@click.option("--scenes", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--width", type=click.IntRange(64, 4096), default=320, show_default=True)
@click.option("--height", type=click.IntRange(64, 4096), default=240, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything.")
@click.option(
    "--layout",
    type=click.Choice(["oasis", "depthgauge"]),
    default="oasis",
    show_default=True,
    help="Of the dataset: OASIS's own files, or our dataset folder.",
)
@click.option(
    "--annotators",
    type=click.IntRange(0, 100),
    default=8,
    show_default=True,
    help="People who annotate every picture beside the one whose records are the truth.",
)
@click.option("--overwrite", is_flag=True, help="Replace a set that is there already.")
@click.option("--json", "as_json", is_flag=True, help="What was made, as JSON.")
def command(
    out: Path,
    scenes: int,
    width: int,
    height: int,
    seed: int,
    layout: str,
    annotators: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Random scenes annotated by simulated people, as OASIS has them, and exact geometry.

    The truth is what a careful annotator's records give; other people's records lie in
    OUT/records, what theirs give in OUT/humans, exact depth and normals in OUT/sensor. One that
    was stopped goes on where it was.

    \b
      depthgauge make oasis-like --out oasis-like
      depthgauge annotate human oasis-normals --data oasis-like --estimates oasis-like/humans
      depthgauge annotate agreement oasis-like
    """
    from depthgauge.annotate.simulate.oasis_like import OasisLike, write_oasis_like

    options = OasisLike(scenes, (width, height), seed, annotators, layout)
    with progress_bar("annotating") as step:
        made = write_oasis_like(out, options, progress=step, overwrite=overwrite)
    if as_json:
        body = {"folder": str(out), "samples": list(made), "size_px": [width, height]}
        write_json("-", {**body, "seed": seed, "layout": layout, "annotators": annotators})
        return
    people = f"annotated by {count(annotators + 1, 'simulated person')}"
    people = people.replace("persons", "people")
    click.echo(f"{out}: {count(scenes, 'scene')} of {width}x{height}, {people}.")
    say(f"Next: {program_name()} annotate agreement {in_shell(out)}")
