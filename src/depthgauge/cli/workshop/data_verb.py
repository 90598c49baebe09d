"""`depthgauge data`: public datasets from their home pages."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import (
    count,
    in_shell,
    is_terminal,
    print_table,
    program_name,
    progress_bar,
    say,
    write_json,
)
from depthgauge.cli._runs import can_go_on
from depthgauge.errors import Misuse


@click.group("data")
def command() -> None:
    """Downloads public datasets."""


@command.command("list")
@json_option
def list_(json_to: str | None) -> None:
    """Lists the datasets that can be downloaded, with their licences."""
    from depthgauge.engine.downloading.manifest import find_manifest, names

    found = [find_manifest(name) for name in names()]
    if json_to is not None:
        body = {"schema": 1, "datasets": [each.model_dump(mode="json") for each in found]}
        write_json(json_to, body)
    if json_to != "-":
        columns = [("name", "left"), ("read by", "left"), ("licence", "left"), ("title", "left")]
        rows = [[each.id, each.dataset or "-", each.licence, each.title] for each in found]
        print_table(columns, rows)


@command.command("get")
@click.argument("name")
@click.option("--out", type=click.Path(path_type=Path), help="The folder; NAME by default.")
@click.option("--accept", is_flag=True, help="Accept the terms that 'data get' shows.")
@click.option("--keep-archives", is_flag=True, help="Keep archives after unpacking them.")
@json_option
def get(
    name: str, out: Path | None, accept: bool, keep_archives: bool, json_to: str | None
) -> None:
    """Downloads the dataset NAME, or the one that a manifest NAME.toml describes.

    \b
      depthgauge data list
      depthgauge data get middlebury-v3-q --out middlebury
      depthgauge data get middlebury-v3-q --accept && depthgauge run middlebury \\
          --data middlebury-v3-q/MiddEval3 -m sgbm --out runs/first

    The terms are shown and must be accepted. The same command continues an interrupted
    download. Sizes and SHA-256 are compared where they are known; otherwise the first download
    records the SHA-256 in download.json, and later ones are compared with it. Archives that
    contain links, names that lead elsewhere, or far more than they should are refused.
    """
    from depthgauge.engine.downloading.get import RECORD, get_data
    from depthgauge.engine.downloading.manifest import find_manifest

    manifest = find_manifest(name)
    folder = Path(manifest.id) if out is None else out
    if not accept and not (folder / RECORD).is_file():
        accept = _ask(manifest.title, manifest.licence, manifest.terms, manifest.homepage)
    with can_go_on(), progress_bar("downloading (MB)") as step:
        got = get_data(
            name,
            folder,
            accept=accept,
            keep_archives=keep_archives,
            progress=lambda file, done, whole: step(
                file, done // 1_000_000, (whole or done) // 1_000_000
            ),
        )
    if json_to is not None:
        write_json(json_to, got.to_json())
    tell = say if json_to == "-" else click.echo
    for file, sha256 in got.unchecked.items():
        tell(f"{file}: no SHA-256 was known; recorded {sha256} in {folder / RECORD}.")
    what = count(len(got.fetched), "file") if got.fetched else "everything was there; 0 files"
    tell(f"{folder}: {what} downloaded, {got.unpacked} unpacked. Licence: {manifest.licence}.")
    if manifest.dataset:
        data = in_shell(got.data)
        say(
            f"Next: {program_name()} dataset describe {data} --dataset {manifest.dataset}; "
            f"cite {manifest.cite}"
        )


def _ask(title: str, licence: str, terms: str, homepage: str) -> bool:
    """Whether the user accepts the terms; asks only a person."""
    said = f"{title}\nLicence: {licence}\n{terms}\n{homepage}"
    if not is_terminal(sys.stdin):
        raise Misuse(f"{title}: {terms} ({homepage}). Say --accept if you accept this.")
    click.echo(said, err=True)
    if not click.confirm("Do you accept this?", err=True):
        raise Misuse("the terms were not accepted; nothing was downloaded.")
    return True
