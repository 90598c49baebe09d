"""Options that several verbs share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._names import completes
from depthgauge.errors import Misuse

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def quiet_option() -> click.Option:
    """`--quiet`, which every verb has."""
    return click.Option(
        ["--quiet"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_be_quiet,
        help="No progress, no warnings; errors are still said.",
    )


def _be_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().meta["depthgauge.quiet"] = True


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json FILE`; without a file, or with `-`, JSON is all that goes to stdout."""
    return click.option(
        "--json",
        "json_to",
        metavar="[FILE]",
        is_flag=False,
        flag_value="-",
        help="Strict JSON to FILE; to stdout, and nothing else there, where no FILE is said.",
    )(command)


def once(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The value of an option that may be given only once; click itself takes the last."""
    if len(values) > 1:
        raise click.UsageError(f"{param.opts[0]} is given {len(values)} times; give it once.")
    return values[0] if values else None


def benchmark_argument(required: bool = True) -> Decorator:
    """The benchmark: its id or a TOML file."""
    complete = completes("benchmarks", files=True)
    return click.argument("benchmark", required=required, shell_complete=complete)


def setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--focal` and `--thresholds`: what may be set of a benchmark, and changes its hash."""
    for option in (
        click.option(
            "--thresholds",
            type=click.IntRange(1, 999),
            metavar="K",
            help="Of boundary benchmarks: how many thresholds, evenly between 0 and 1.",
        ),
        click.option(
            "--focal",
            "focal_px",
            type=click.FloatRange(1, 1e7),
            callback=_finite,
            metavar="PX",
            help="The focal length of depth estimates that bring none, in px of the truth's size.",
        ),
    ):
        command = option(command)
    return command


def _finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    # No comparison refuses NaN.
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("it must be a finite number.")
    return value


def with_settings(benchmark: str, options: dict[str, Any]) -> str | Protocol:
    """The benchmark with what `setting_options` were given, which are taken out of the options."""
    given = {name: options.pop(name) for name in ("thresholds", "focal_px")}
    if all(value is None for value in given.values()):
        return benchmark
    from depthgauge.benchmarks import find_benchmark

    return find_benchmark(benchmark).with_settings(**given)


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--workers`, `--threads` and `--cluster`."""
    for option in (
        click.option(
            "--threads",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Threads of each worker; more, with fewer workers, for networks. 0: no limit.",
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            help="A dask scheduler, tcp://host:port, in place of worker processes.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=0),
            help="Worker processes; one for each core unless said. 0: in this process, which a "
            "method can then crash, and where no time limit holds.",
        ),
    ):
        command = option(command)
    return command


def board_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What sorts a leaderboard and what counts as a tie."""
    for option in (
        click.option(
            "--practical",
            multiple=True,
            metavar="SCORE=VALUE",
            help="Differences below VALUE in that score are ties; may be repeated.",
        ),
        click.option(
            "--accuracy",
            type=float,
            help="How far the truth may be off, in the quantity's unit: smaller differences are "
            "ties. By default what the benchmark says.",
        ),
        click.option(
            "--main",
            metavar="SCORE",
            help="The score that sorts the methods; the first by default.",
        ),
    ):
        command = option(command)
    return command


def parse_practical(texts: tuple[str, ...]) -> dict[str, float]:
    """`SCORE=VALUE` pairs as numbers."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = -1.0
        if not name or not 0 <= found[name] < math.inf:
            raise Misuse(f"--practical {text}: write SCORE=VALUE, such as badpix:2@all=0.5.")
    return found


def new_folder(path: Path | None, beside: Path, ending: str) -> Path:
    """The folder that was given, or one beside another."""
    return path if path is not None else beside.with_name(f"{beside.name}-{ending}")
