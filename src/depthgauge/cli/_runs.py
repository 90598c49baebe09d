"""What the verbs about runs print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._output import program_name, warn

if TYPE_CHECKING:
    from depthgauge.analysis.board import Board
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.record import Run

_MOST_FAILURES = 20


def source_of(protocol: Protocol) -> str:
    """The line that says where numbers come from."""
    return f"{protocol.id} v{protocol.version}, protocol {protocol.hash[:12]}"


def run_json(run: Run) -> dict[str, Any]:
    """Every method's scores as `score --json` has them, by label, and by seed where there are
    several.
    """
    return {
        "schema": 1,
        "run": str(run.path),
        "benchmark": run.protocol.id,
        "version": run.protocol.version,
        "protocol_hash": run.protocol.hash,
        "methods": {
            entrant.label: {
                "method": entrant.method,
                "options": dict(entrant.options),
                "options_hash": entrant.options_hash,
                "results": [run.results[entrant.label, s].to_json() for s in entrant.seeds],
            }
            for entrant in run.entrants
        },
    }


def board_json(board: Board) -> dict[str, Any]:
    """A leaderboard as plain data: no NaN, no infinity."""
    from dataclasses import asdict

    return plain(asdict(board))  # type: ignore[no-any-return]  # a dict stays one


def plain(value: Any) -> Any:
    """The same with null in place of NaN and infinities."""
    import math

    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def finish_run(run: Run, *, table: bool = True) -> int:
    """Prints the leaderboard and every failure; the exit code that says whether there were any."""
    from depthgauge.analysis.make_board import make_board
    from depthgauge.report.formats import to_text
    from depthgauge.report.leaderboard import leaderboard_table

    if table:
        board = make_board(run)
        title = f"{run.path}: {run.protocol.title or run.protocol.id}, {len(run.samples)} samples"
        shown = leaderboard_table(board, title=title, source=source_of(run.protocol))
        click.echo(to_text(shown))
    if left_out := run.info.get("left_out"):
        warn(f"left out, their truth is not in the data: {', '.join(left_out)}")
    code = _list_failures(run)
    if table:
        click.echo(f"Next: {program_name()} report {run.path}")
    return code


def _list_failures(run: Run) -> int:
    failed = [
        f"{label}: {sample}: {why}"
        for (label, _), found in run.results.items()
        for sample, why in found.failed.items()
    ]
    for text in failed[:_MOST_FAILURES]:
        click.echo(f"failed: {text}", err=True)
    if len(failed) > _MOST_FAILURES:
        click.echo(f"failed: and {len(failed) - _MOST_FAILURES} more", err=True)
    return 1 if failed else 0
