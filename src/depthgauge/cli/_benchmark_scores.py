"""`depthgauge score` on a benchmark, or on a dataset with rules of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depthgauge.cli._maps import PROTOCOL_OPTIONS, draw, expressions, folder_keys
from depthgauge.cli._options import with_settings
from depthgauge.cli._output import count, print_table, progress_bar, warn, write_json
from depthgauge.cli._reading import reading_keys
from depthgauge.cli._runs import can_go_on, print_notes, some_of
from depthgauge.cli.workshop._settings import merged, parse_settings

if TYPE_CHECKING:
    from depthgauge.benchmarks import Protocol
    from depthgauge.engine.scoring.result import Result


def folders_of(
    benchmark: str, data: Path | None, given: tuple[str, ...], options: dict[str, Any]
) -> tuple[Path, Path]:
    """The folders of data and estimates; rejects what is only for calls without a benchmark."""
    if options["dataset"] or options["split"]:
        raise click.UsageError("a benchmark says its dataset itself; leave out --dataset.")
    if data is None or not given:
        raise click.UsageError(f"benchmark '{benchmark}' needs --data DIR and --estimates DIR.")
    if len(given) > 1:
        raise click.UsageError(
            f"benchmark '{benchmark}' scores one folder of estimates at a time; for a leaderboard "
            "use 'run' with -m folder:DIR for each."
        )
    for name in PROTOCOL_OPTIONS:
        if options[name]:
            raise click.UsageError(
                f"a benchmark says its {name.replace('_', ' ')} itself; write another benchmark "
                "file to change that."
            )
    return data, Path(given[0])


def score_dataset(data: Path | None, given: tuple[str, ...], options: dict[str, Any]) -> None:
    """A dataset under rules that the options say, as a benchmark that has no file."""
    from depthgauge.engine.explaining.source import dataset_protocol
    from depthgauge.engine.scoring.in_memory.arrays import other_keys

    if data is None or len(given) != 1:
        raise click.UsageError("--dataset needs --data DIR and one --estimates DIR.")
    for name in ("left", "right", "right_truth", "materials", "pattern", "truth_pattern"):
        if options[name]:
            flag = name.replace("_", "-")
            raise click.UsageError(f"--{flag} is for maps without a dataset; leave it out.")
    protocol = dataset_protocol(
        data,
        options["dataset"],
        options["split"],
        options["metrics"],
        quantity=options["quantity"],
        regions=dict(expressions(options["regions"])),
        **{**folder_keys(options), **other_keys(parse_settings(options["settings"]))},
    )
    options |= {"focal_px": None, "thresholds": None, "settings": (), "trust": False}
    score_benchmark(protocol, data, Path(given[0].rpartition("=")[2]), options)


def score_benchmark(
    benchmark: str | Protocol, data: Path, estimates: Path, options: dict[str, Any]
) -> None:
    """Prints the scores of a folder of estimates."""
    from depthgauge.engine.scoring.result import SUMMARY_COLUMNS, protocol_line, summary_rows

    name = Path(benchmark).name if isinstance(benchmark, str) else benchmark.dataset
    with progress_bar(f"scoring {name}") as step:
        result = _evaluate(benchmark, data, estimates, options, step)
    for sample, why in result.failed.items():
        warn(f"{sample}: {why}")
    if result.left_out:
        warn(f"left out, because the data lacks what they need: {some_of(result.left_out)}")
    if options["json_to"]:
        write_json(options["json_to"], result.to_json())
    if options["json_to"] != "-":
        protocol, n = result.protocol, len(result.samples)
        title = f"{protocol.id} v{protocol.version}, {count(n, 'sample')}: {estimates}"
        print_table(SUMMARY_COLUMNS, summary_rows(result), title)
        click.echo(protocol_line(protocol))
        print_notes(result.notes)
    if options["map_to"] is not None:
        _write_benchmark_maps(result, data, estimates, options)


def _evaluate(
    benchmark: str | Protocol, data: Path, estimates: Path, options: dict[str, Any], step: Any
) -> Result:
    """The scores; with --out they are those of a run that is kept."""
    from depthgauge.benchmarks import find_benchmark

    chosen = {name: options[name] for name in ("name", "only", "trust")} | {"progress": step}
    protocol = with_settings(benchmark, options)
    said = {**parse_settings(options["settings"]), **reading_keys(options)}
    if said:
        found = find_benchmark(protocol)
        plain = found.model_dump(exclude_unset=True)
        protocol = found.model_copy(update={n: merged(plain, said)[n] for n in said})
    if options["out"] is None:
        from depthgauge.engine.scoring.evaluate import evaluate

        return evaluate(protocol, data, estimates, check=options["check"], **chosen)
    from depthgauge.engine.running.run import score_folder

    with can_go_on():
        done = score_folder(protocol, data, estimates, options["out"], **chosen)
    return next(iter(done.results.values()))


def _write_benchmark_maps(
    result: Any, data: Path, estimates: Path, options: dict[str, Any]
) -> None:
    from depthgauge.engine.scoring.evaluate import prepared_samples

    if result.protocol.twin is not None:
        warn("a twin has no error maps; score the benchmark that it is the twin of.")
        return
    with progress_bar("drawing") as step:
        found = list(result.samples)
        chosen = {"name": options["name"], "only": found, "trust": options["trust"]}
        pairs = prepared_samples(result.protocol, data, estimates, **chosen)
        for done, (sample, prepared) in enumerate(pairs, start=1):
            draw(options["map_to"] / sample, result.protocol, prepared, sample)
            step(sample, done, len(found))
