"""`depthgauge annotate check`, `reconstruct`, `export`, `simulate`: records and their use."""

from __future__ import annotations

from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import (
    count,
    in_shell,
    one_line,
    program_name,
    progress_bar,
    say,
    warn,
    write_json,
)

PLACE = click.Path(path_type=Path)


@click.command("check", short_help="what a person should mend in records")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@json_option
@click.pass_context
def check(ctx: click.Context, records: tuple[Path, ...], json_to: str | None) -> None:
    """Finds what a person should mend in RECORDS: files, or folders of them.

    A region that misses its points, strokes outside it or without a side, normals that face away,
    planes without a normal or seen edge-on, relations that contradict each other. Nothing of that
    stops a reconstruction; it only gets worse. Exit code 1 where there is something to mend.

    \b
      depthgauge annotate check beach.jsonl
      depthgauge annotate check study --json problems.json
    """
    from depthgauge.annotate.quality.check import check_records

    with progress_bar("checking") as step:
        found = check_records(records, progress=step)
    wrong = sum(map(len, found.values()))
    if json_to is not None:
        listed = {str(path): list(texts) for path, texts in found.items()}
        write_json(json_to, {"ok": not wrong, "problems": listed})
    if json_to != "-":
        for path, texts in found.items():
            for text in texts:
                click.echo(one_line(f"{path}: {text}"))
        files = count(len(found), "file")
        click.echo(f"{files} of records, {count(wrong, 'problem')}")
    if wrong:
        ctx.exit(1)


@click.command("reconstruct", short_help="normals, depth and a mesh from one file of records")
@click.argument("record", type=PLACE)
@click.option("--out", type=PLACE, required=True, help="The folder to write to.")
@click.option("--image", type=PLACE, help="The photograph: colours the mesh and the picture.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--preview", is_flag=True, help="At most 300 px wide and high: quick, coarse.")
@json_option
def reconstruct(
    record: Path, out: Path, image: Path | None, seed: int, preview: bool, json_to: str | None
) -> None:
    """Makes normals, depth and a mesh from one file of records.

    Writes depth.npy (up to scale), normals.npy (x right, y down, z forward), labels.npy (smooth
    surfaces), mesh.glb and mesh.ply, points.ply, and picture.png with everything to look at. Of
    pictures above a million pixels, meshes and points have every second, third ... row and column.
    What was assumed, left out or contradicts itself is said on stderr.

    \b
      depthgauge annotate reconstruct beach.jsonl --image beach.jpg --out beach
    """
    from depthgauge.report.annotate.reconstruction_files import write_reconstruction

    with progress_bar("reconstructing") as step:
        made = write_reconstruction(
            record, out, image=image, seed=seed, preview=preview, progress=step
        )
    for note in made.notes:
        warn(note)
    if json_to is not None:
        write_json(json_to, made.to_json())
    if json_to != "-":
        width, height = made.size_px
        surfaces = count(made.continuous, "continuous surface")
        click.echo(f"{out}: {width}x{height}, {surfaces}, {made.smooth} smooth.")
        say(f"Look at {out / 'picture.png'}; mesh.glb opens in any viewer of 3D models.")


@click.command("export", short_help="a dataset in OASIS's layout from records")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@click.option("--images", type=PLACE, required=True, help="The folder of the photographs.")
@click.option("--out", type=PLACE, required=True, help="The dataset's folder.")
@click.option(
    "--split",
    type=click.Choice(["train", "val", "test"]),
    default="val",
    show_default=True,
    help="The split to write.",
)
@click.option("--votes", type=PLACE, help="Only annotations that these votes accept.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace a split that is there already.")
@json_option
def export(
    records: tuple[Path, ...],
    images: Path,
    out: Path,
    split: str,
    votes: Path | None,
    seed: int,
    overwrite: bool,
    json_to: str | None,
) -> None:
    """Writes a dataset in OASIS's layout from RECORDS: one sample a photograph.

    Photographs are found by name in --images. Where several people annotated one photograph, give
    the records of one person, or the first by name is taken. Votes name annotations as
    PERSON/PICTURE.

    \b
      depthgauge annotate export records/anna --images photographs --out dataset
      depthgauge score oasis-depth --data dataset --estimates estimates
    """
    from depthgauge.annotate.reconstruct.export import export_records

    with progress_bar("exporting") as step:
        made = export_records(
            records,
            images,
            out,
            split=split,
            votes=votes,
            seed=seed,
            overwrite=overwrite,
            notes=warn,
            progress=step,
        )
    if json_to is not None:
        write_json(json_to, {"folder": str(out), "split": split, "samples": list(made)})
    if json_to != "-":
        click.echo(f"{out}: {count(len(made), 'sample')} in split {split}.")


@click.command("simulate", short_help="simulated people annotate scenes with exact geometry")
@click.argument("kind")
@click.option("--out", type=PLACE, required=True, help="The folder to write to.")
@click.option("--scenes", type=click.IntRange(1, 10000), default=1, show_default=True)
@click.option("--annotators", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option(
    "--noise",
    type=click.Choice(["none", "careful", "human"]),
    default="human",
    show_default=True,
    help="How well they do it.",
)
@click.option("--width", type=click.IntRange(32, 4096), default=320, show_default=True)
@click.option("--height", type=click.IntRange(32, 4096), default=240, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@json_option
def simulate(
    kind: str,
    out: Path,
    scenes: int,
    annotators: int,
    noise: str,
    width: int,
    height: int,
    seed: int,
    json_to: str | None,
) -> None:
    """Simulated people annotate scenes with exact geometry: a study for trying things.

    KIND is planar, curved or mixed (random scenes), or kitchen, bathroom or desk (rooms). Writes
    records/PERSON/SCENE.jsonl, images/SCENE.png and the exact depth and normals as sensor/.

    \b
      depthgauge annotate simulate mixed --scenes 3 --annotators 4 --out study
      depthgauge annotate agreement study
    """
    from depthgauge.annotate.simulate.study import write_study

    with progress_bar("simulating") as step:
        made = write_study(
            out,
            kind,
            scenes=scenes,
            annotators=annotators,
            noise=noise,
            size_px=(width, height),
            seed=seed,
            progress=step,
        )
    if json_to is not None:
        write_json(json_to, {"folder": str(out), "scenes": list(made), "annotators": annotators})
    if json_to != "-":
        people = count(annotators, "simulated annotator")
        click.echo(f"{out}: {count(len(made), 'scene')}, {people}.")
        say(f"Next: {program_name()} annotate agreement {in_shell(out)}")


COMMANDS = (check, reconstruct, export, simulate)
