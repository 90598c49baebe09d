"""`depthgauge suite`: several benchmarks in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._options import json_option
from depthgauge.cli._output import progress_bar, warn, write_json
from depthgauge.cli.workshop._settings import labelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from depthgauge.analysis.suites import SuiteEntry
    from depthgauge.benchmarks.suites import Suite


@click.command("suite")
@click.argument("name", metavar="SUITE")
@click.argument("results", metavar="[NAME=]RESULT", nargs=-1)
@click.option(
    "--data",
    multiple=True,
    metavar="MEMBER=DIR",
    help="The data of a member, to score --estimates now; one for each member that is scored.",
)
@click.option(
    "--estimates",
    multiple=True,
    metavar="[NAME=]DIR",
    help="With --data: a folder with one folder of estimates per member, DIR/MEMBER; may be "
    "repeated.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME=VARIANT",
    help="How a method of --estimates is scored, where the suite has several ways.",
)
@click.option("--markdown", "kind", flag_value="markdown", help="The table as Markdown.")
@click.option("--latex", "kind", flag_value="latex", help="The same for a paper.")
@click.option("--csv", "kind", flag_value="csv", help="The same with all digits.")
@json_option
def command(
    name: str,
    results: tuple[str, ...],
    kind: str | None,
    json_to: str | None,
    **options: Any,
) -> None:
    """Puts the scores of methods on several benchmarks into one table with average ranks.

    \b
      depthgauge suite mono-zero-shot A=a-nyu.json A=a-kitti.json B=b-nyu.json B=b-kitti.json
      depthgauge suite mono-zero-shot runs/nyu runs/kitti --latex
      depthgauge suite mono-zero-shot --data nyu=NYU/test --data kitti=KITTI \\
          --estimates A=results/a --estimates B=results/b --variant B=disparity

    A result is a run folder or a file that 'score --json' wrote. Each must have been scored under
    the protocol of a member of the suite, and all methods on the same samples of it.
    """
    from depthgauge.analysis.suites import make_suite_board, read_entries
    from depthgauge.benchmarks.suites import SUITES
    from depthgauge.report.tables import formats
    from depthgauge.report.tables.suite import suite_table

    suite = SUITES[name]
    entries = [*read_entries(suite, map(_named, results)), *_scored(suite, options)]
    if not entries:
        raise click.UsageError("give results of the suite's benchmarks, or --data and --estimates.")
    board = make_suite_board(suite, entries)
    if json_to is not None:
        write_json(json_to, board.to_json())
    if json_to != "-":
        writer = {
            None: formats.to_text,
            "markdown": formats.to_markdown,
            "latex": formats.to_latex,
            "csv": formats.to_csv,
        }[kind]
        click.echo(writer(suite_table(board)))


def _named(text: str) -> tuple[str, Path]:
    before, equals, path = text.partition("=")
    return (before, Path(path)) if equals else ("", Path(text))


def _scored(suite: Suite, options: dict[str, Any]) -> Iterator[SuiteEntry]:
    """The entries of folders of estimates that are scored now."""
    from depthgauge._registry import unknown
    from depthgauge.analysis.suites import entry_of
    from depthgauge.engine.scoring.evaluate import evaluate

    data = _pairs(options["data"], "--data", "nyu=DIR")
    chosen = _pairs(options["variants"], "--variant", "NAME=disparity")
    if bool(data) != bool(options["estimates"]):
        raise click.UsageError("--data and --estimates go together.")
    for member in data:
        if member not in suite.members:
            raise unknown(f"member of {suite.id}", member, suite.members)
    for method, root in labelled(options["estimates"]):
        variant = chosen.get(method, next(iter(suite.variants)))
        if variant not in suite.variants:
            raise unknown(f"variant of {suite.id}", variant, suite.variants)
        for member, folder in data.items():
            if not (root / member).is_dir():
                warn(f"{root}: has no folder {member}; '{method}' has no score there.")
                continue
            with progress_bar(f"scoring {method} on {member}") as step:
                protocol = suite.protocols[member, variant]
                result = evaluate(protocol, folder, root / member, progress=step)
            for sample, why in result.failed.items():
                warn(f"{sample}: {why}")
            yield entry_of(suite, method, result)


def _pairs(texts: tuple[str, ...], flag: str, example: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise click.UsageError(f"{flag} {text}: write {flag} {example}.")
        found[name] = value
    return found
