"""`depthgauge annotate check`, `repair`, `reconstruct`, `advise`, `fuse` ...: use of records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from depthgauge.cli._options import OptionsCommand, json_option, options_of
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

if TYPE_CHECKING:
    from depthgauge.annotate.options import (
        AdviceOptions,
        ExportOptions,
        FusionOptions,
        ReconstructionOptions,
        StudyOptions,
    )

PLACE = click.Path(path_type=Path)
_OPTIONS = "depthgauge.annotate.options"


@click.command("check", short_help="what a person should fix in records")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@json_option
@click.pass_context
def check(ctx: click.Context, records: tuple[Path, ...], json_to: str | None) -> None:
    """Finds what a person should fix in RECORDS: files, or folders of them.

    A region that misses its points, strokes outside it or without a side, normals that face away,
    planes without a normal or seen edge-on, relations that contradict each other. None of this
    stops a reconstruction; it only gets worse. The exit code is 1 if there is something to fix.

    \b
      depthgauge annotate check beach.jsonl
      depthgauge annotate check study --json problems.json
    """
    from depthgauge.annotate.quality.check import check_records

    with progress_bar("checking") as step:
        found = check_records(records, progress=step)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        for path, texts in found.by_file.items():
            for text in texts:
                click.echo(one_line(f"{path}: {text}"))
        files = count(len(found.by_file), "file")
        click.echo(f"{files} of records, {count(found.count, 'problem')}")
    if found.count:
        ctx.exit(1)


@click.command("repair", short_help="set damaged lines of records aside")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@json_option
def repair(records: tuple[Path, ...], json_to: str | None) -> None:
    """Sets aside lines of RECORDS that cannot be read, so that all others count.

    A damaged line stops the whole file from being read. It is moved to FILE.damaged, and what it
    said must be drawn again; a file whose header is damaged cannot be repaired.

    \b
      depthgauge annotate repair beach.jsonl
    """
    from depthgauge.annotate.records import repair_records

    found = {str(path): repair_records(path) for path in records}
    if json_to is not None:
        write_json(json_to, {path: one.to_json() for path, one in found.items()})
    if json_to != "-":
        for path, one in found.items():
            for number, problem in one.damaged:
                click.echo(one_line(f"{path}: line {number}: {problem}"))
            click.echo(f"{path}: {count(one.kept, 'line')} kept, {len(one.damaged)} set aside")


@click.command(
    "reconstruct",
    cls=OptionsCommand,
    short_help="normals, depth and a mesh from a file of records",
)
@click.argument("record", type=PLACE)
@click.option("--out", type=PLACE, required=True, help="The folder to write to.")
@options_of(f"{_OPTIONS}:ReconstructionOptions")
@json_option
def reconstruct(
    record: Path, out: Path, options: ReconstructionOptions, json_to: str | None
) -> None:
    """Makes normals, depth and a mesh from one file of records.

    Writes depth.npy (up to scale), normals.npy (x right, y down, z forward), labels.npy (smooth
    surfaces), mesh.glb and mesh.ply, points.ply, and picture.png, which shows all of it. For
    pictures above a million pixels, meshes and points use every second, third ... row and column.
    Notes on stderr say what was assumed, what was left out and what contradicts itself.

    \b
      depthgauge annotate reconstruct beach.jsonl --image beach.jpg --out beach
    """
    from depthgauge.annotate.reconstruct.files import write_reconstruction
    from depthgauge.report.annotate.reconstruction import draw_reconstruction

    with progress_bar("reconstructing") as step:
        made = write_reconstruction(record, out, options=options, progress=step)
        step("drawing", 7, 8)
        picture = draw_reconstruction(
            out / "picture.png", made.annotation, made.reconstruction, made.photograph
        )
    for note in made.notes:
        warn(note)
    if json_to is not None:
        write_json(json_to, made.to_json())
    if json_to != "-":
        width, height = made.size_px
        surfaces = count(made.continuous, "continuous surface")
        click.echo(f"{out}: {width}x{height}, {surfaces}, {made.smooth} smooth.")
        say(f"Look at {picture}; mesh.glb opens in any viewer of 3D models.")


@click.command("advise", cls=OptionsCommand, short_help="which normal or stroke would help most")
@click.argument("record", type=PLACE)
@click.option("--out", type=PLACE, help="A folder for maps of the uncertainty.")
@options_of(f"{_OPTIONS}:AdviceOptions")
@json_option
def advise(record: Path, out: Path | None, options: AdviceOptions, json_to: str | None) -> None:
    """Says where RECORD's reconstruction is uncertain, and which normal or stroke would help most.

    The reconstruction is repeated with normals that are tilted as people tilt them, and with single
    strokes drawn differently. With --out, writes depth_percent.npy (standard deviation of the
    depth) and normals_deg.npy.

    \b
      depthgauge annotate advise beach.jsonl
    """
    from depthgauge.annotate.reconstruct.more_files import advise as find

    found = find(record, out, options=options)
    if json_to is not None:
        write_json(json_to, found.to_json())
    if json_to != "-":
        for one in found.found.advice:
            click.echo(one.text)
        if not found.found.advice:
            click.echo("No single normal or stroke would help much.")


@click.command("fuse", cls=OptionsCommand, short_help="several people's records as one")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@click.option("--out", type=PLACE, required=True, help="The folder to write to.")
@options_of(f"{_OPTIONS}:FusionOptions")
@json_option
def fuse(records: tuple[Path, ...], out: Path, options: FusionOptions, json_to: str | None) -> None:
    """Makes one reconstruction of the RECORDS of several people who annotated one picture.

    The lines are those of the person who agrees best with the others; their closer sides are those
    that most people see. Normals are a mean in which people and normals far from the others count
    little, and planes are turned so that they meet where folds were drawn. Writes depth.npy,
    normals.npy, labels.npy, mesh.glb and spread_deg.npy, which shows where people disagree.

    \b
      depthgauge annotate fuse anna/beach.jsonl ben/beach.jsonl --out beach
    """
    from depthgauge.annotate.reconstruct.more_files import fuse_records

    made = fuse_records(records, out, options=options)
    if json_to is not None:
        write_json(json_to, made.to_json())
    if json_to != "-":
        lines = records[made.fusion.lines_of]
        click.echo(
            f"{out}: {count(len(records), 'annotation')} with the lines of {lines}; normals differ "
            f"by {made.spread_deg:.1f} degrees from their mean."
        )


@click.command("export", cls=OptionsCommand, short_help="a dataset in OASIS's layout from records")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@click.option("--images", type=PLACE, required=True, help="The folder of the photographs.")
@click.option("--out", type=PLACE, required=True, help="The dataset's folder.")
@options_of(f"{_OPTIONS}:ExportOptions")
@json_option
def export(
    records: tuple[Path, ...], images: Path, out: Path, options: ExportOptions, json_to: str | None
) -> None:
    """Writes a dataset in OASIS's layout from RECORDS: one sample per photograph.

    Photographs are found by name in --images. If several people annotated one photograph, give the
    records of one person; otherwise the first by name is used. Votes name annotations as
    PERSON/PICTURE. A test split is written without truth; --with-truth keeps it elsewhere.

    \b
      depthgauge annotate export records/anna --images photographs --out dataset
      depthgauge score oasis-depth --data dataset --estimates estimates
    """
    from depthgauge.annotate.reconstruct.export import export_records

    with progress_bar("exporting") as step:
        made = export_records(records, images, out, options=options, notes=warn, progress=step)
    if json_to is not None:
        write_json(json_to, made.to_json())
    if json_to != "-":
        click.echo(f"{out}: {count(len(made.samples), 'sample')} in split {made.split}.")


@click.command(
    "simulate",
    cls=OptionsCommand,
    short_help="simulated people annotate exact scenes",
)
@click.argument("kind")
@click.option("--out", type=PLACE, required=True, help="The folder to write to.")
@options_of(f"{_OPTIONS}:StudyOptions")
@json_option
def simulate(kind: str, out: Path, options: StudyOptions, json_to: str | None) -> None:
    """Makes a study to try things out: simulated people annotate scenes with exact geometry.

    KIND is planar, curved or mixed (random scenes), or kitchen, bathroom or desk (rooms). Writes
    records/PERSON/SCENE.jsonl, images/SCENE.png and the exact depth and normals as sensor/.

    \b
      depthgauge annotate simulate mixed --scenes 3 --annotators 4 --out study
      depthgauge annotate agreement study
    """
    from depthgauge.annotate.simulate.study import write_study

    with progress_bar("simulating") as step:
        made = write_study(out, kind, options=options, progress=step)
    if json_to is not None:
        write_json(json_to, made.to_json())
    if json_to != "-":
        people = count(made.annotators, "simulated annotator")
        click.echo(f"{out}: {count(len(made.scenes), 'scene')}, {people}.")
        say(f"Next: {program_name()} annotate agreement {in_shell(out)}")


COMMANDS = (check, repair, reconstruct, advise, fuse, export, simulate)
