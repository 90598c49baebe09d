"""`depthgauge rescore`: the estimates of a run under another protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge._shorten import first_few
from depthgauge.cli._names import completes
from depthgauge.cli._options import json_option, new_folder, where_options
from depthgauge.cli._output import print_table, progress_bar, warn, write_json
from depthgauge.cli._runs import can_go_on, finish_run

if TYPE_CHECKING:
    from depthgauge.analysis.rank_moves import RankMoves
    from depthgauge.engine.store.record import Run


_MOST_REASONS = 8


@click.command("rescore")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--benchmark",
    required=True,
    shell_complete=completes("benchmarks", files=True),
    help="The other benchmark: its id or its TOML file.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The new run folder; beside RUN by default."
)
@click.option("--data", type=click.Path(path_type=Path), help="The dataset's folder, if it moved.")
@where_options
@json_option
def command(
    folder: Path,
    benchmark: str,
    out: Path | None,
    json_to: str | None,
    **options: Any,
) -> None:
    """Scores the stored estimates of a run under another protocol, and shows which ranks move.

    \b
      depthgauge rescore runs/first --benchmark skip-missing.toml

    No method is run again. The differences between the protocols are listed as the reason.
    """
    from depthgauge.engine.running.rescore import rescore

    target = new_folder(out, folder, Path(benchmark).stem)
    with can_go_on(), progress_bar(f"scoring {Path(benchmark).name}") as step:
        done = rescore(folder, benchmark, target, progress=step, **options)
    moves = _moves(folder, done)
    if json_to is not None:
        found = None if moves is None else moves.to_json()
        write_json(json_to, {**done.to_json(), "moves": found})
    code = finish_run(done, target, table=json_to != "-")
    if json_to != "-" and moves is not None:
        _print_moves(moves)
    click.get_current_context().exit(code)


def _moves(folder: Path, done: Run) -> RankMoves | None:
    from depthgauge.analysis.rank_moves import moves_between
    from depthgauge.engine.store.load import load_run
    from depthgauge.errors import DepthgaugeError

    try:
        return moves_between(load_run(folder), done)
    except DepthgaugeError as error:
        warn(f"the earlier ranks are unknown: {error}")
        return None


def _print_moves(moves: RankMoves) -> None:
    from depthgauge._tables import show_number, show_share

    columns = [("method", "left"), ("rank", "right"), ("was", "right"), ("moved", "right")]
    columns += [(moves.new_score, "right"), (f"{moves.old_score} before", "right")]
    columns += [("density", "right")]
    rows = [
        [
            move.label,
            str(move.new_rank),
            str(move.old_rank),
            f"{move.places:+d}" if move.places else "-",
            show_number(move.new_value),
            show_number(move.old_value),
            show_share(move.new_density),
        ]
        for move in sorted(moves.moves, key=lambda move: move.new_rank)
    ]
    print_table(columns, rows, "Which ranks move")
    if moves.why:
        named = [f"{each.path}: {each.old} -> {each.new}" for each in moves.why]
        click.echo(f"Why: {first_few(named, _MOST_REASONS, '; ')}")
