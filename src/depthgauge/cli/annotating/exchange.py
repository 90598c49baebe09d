"""`depthgauge annotate convert` and `import`: records and the files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import count, in_shell, program_name, say, warn, write_json

if TYPE_CHECKING:
    from depthgauge.annotate.exchange.files import Exchange, Format

PLACE = click.Path(path_type=Path)
_FORMATS = click.Choice(["coco", "label-studio"])


@click.command("convert", short_help="records as COCO or Label Studio JSON")
@click.argument("records", type=PLACE, nargs=-1, required=True)
@click.option("--to", type=_FORMATS, required=True, help="The format.")
@click.option("--out", type=PLACE, required=True, help="The file to write.")
@click.option("--images", type=PLACE, help="The photographs, for the names of their files.")
@click.option(
    "--prefix", default="", help="Put before names of photographs: where the program finds them."
)
@click.option("--overwrite", is_flag=True, help="Replace what is there.")
@json_option
def convert(
    records: tuple[Path, ...],
    to: Format,
    out: Path,
    images: Path | None,
    prefix: str,
    overwrite: bool,
    json_to: str | None,
) -> None:
    """Writes RECORDS, files or folders of them, as one file for another program.

    Label Studio holds all that is drawn; its labelling interface is written beside the file. COCO
    holds regions and planar or curved surfaces; lines, normals, relations and focal lengths have no
    place there, and their number is reported.

    \b
      depthgauge annotate convert study --to label-studio --images study/images \\
        --prefix /data/local-files/?d=study/images/ --out tasks.json
      depthgauge annotate convert study --to coco --out annotations.json
    """
    from depthgauge.annotate.exchange.files import write_document

    made = write_document(
        records, to, out, prefix=prefix, images=images, overwrite=overwrite, notes=warn
    )
    _say(made, json_to, f"{to} has no place for")
    if to == "label-studio" and json_to != "-":
        say(f"Labelling interface: {in_shell(made.files[1])}")


@click.command("import", short_help="records from COCO or Label Studio JSON")
@click.argument("file", type=PLACE)
@click.option("--from", "of", type=_FORMATS, required=True, help="The format.")
@click.option("--out", type=PLACE, required=True, help="The study, for records/PERSON/PICTURE.")
@click.option("--who", default="imported", show_default=True, help="The name, if FILE has none.")
@json_option
def import_(file: Path, of: Format, out: Path, who: str, json_to: str | None) -> None:
    """Writes the annotations of FILE, which another program made, as records.

    Everything is checked before anything is written; records that exist are never replaced.

    \b
      depthgauge annotate import export.json --from label-studio --out study
    """
    from depthgauge.annotate.exchange.files import read_document

    made = read_document(file, of, out, who)
    _say(made, json_to, "left out, because they are no annotations of depthgauge:")
    if json_to != "-":
        say(f"Next: {program_name()} annotate check {in_shell(out)}")


def _say(made: Exchange, json_to: str | None, why: str) -> None:
    if made.left_out:
        listed = ", ".join(f"{number} {what}" for what, number in made.left_out.items())
        warn(f"{why} {listed}.")
    if json_to is not None:
        write_json(json_to, made.to_json())
    if json_to != "-":
        where = made.files[0] if len(made.files) == 1 else count(len(made.files), "file")
        click.echo(f"{where}: {count(made.annotations, 'annotation')}.")


COMMANDS = (convert, import_)
