"""Many methods on many samples: plan, run, score, pool; a run folder that survives everything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge._registry import unknown
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.engine.running.call_checks import check_call, check_ids, check_methods
from depthgauge.engine.running.controls import controls_of
from depthgauge.engine.running.executors import EXECUTORS
from depthgauge.engine.running.finish import (
    finish,
    look_at_items,
    refuse_changed_data,
    require_whole,
)
from depthgauge.engine.running.hiding import require_hidden
from depthgauge.engine.running.plan import Plan, begin, refuse_strange
from depthgauge.engine.running.task import Context, Task
from depthgauge.engine.scoring.data_bins import with_bins_of
from depthgauge.engine.scoring.rules import Rules, check_regions
from depthgauge.engine.scoring.samples import choose, expected, samples_of
from depthgauge.engine.scoring.truth_maps import has_map
from depthgauge.engine.store.data_record import write_record
from depthgauge.engine.store.load import load_run
from depthgauge.engine.store.parquet import has_tables
from depthgauge.engine.store.record import Run
from depthgauge.engine.store.run_folder import (
    finished,
    item_path,
    open_folder,
    write_info,
)
from depthgauge.errors import BadData, Misuse, NothingScored
from depthgauge.methods import Method, find_method, find_methods
from depthgauge.methods.folder import FolderOptions
from depthgauge.types import Sample

# Any other text keeps dask busy for a minute before it reports a bad address.
_ADDRESS = re.compile(r"((tcp|tls|ucx|ws|wss)://)?[^\s/]+:\d+/?|inproc://\S+")


@dataclass(frozen=True)
class Where:
    """Where the tasks run."""

    workers: int = 1
    """Worker processes; 0: in this process."""
    cluster: str | None = None
    """The address of a dask scheduler, in place of worker processes."""
    executor: str | None = None
    """Another executor with its options, `NAME:option=value,...`, in place of both."""

    def __post_init__(self) -> None:
        if self.cluster is not None and not _ADDRESS.fullmatch(self.cluster):
            raise Misuse(
                f"cluster is '{self.cluster}' but must be the address of a dask scheduler, such as "
                "tcp://host:8786."
            )
        if self.executor is not None:
            name, options = self.choice()
            EXECUTORS[name].spec.options.checked(options, f"executor '{name}'")

    def choice(self) -> tuple[str, dict[str, Any]]:
        """The executor's name and its options."""
        if self.executor is not None:
            name, _, text = self.executor.partition(":")
            pairs = [part.partition("=") for part in text.split(",") if part.strip()]
            return name, {key.strip(): value.strip() for key, _, value in pairs}
        if self.cluster is not None:
            return "dask", {"address": self.cluster}
        return ("here", {}) if self.workers == 0 else ("processes", {"workers": self.workers})


def run(
    benchmark: str | Path | Protocol,
    data: str | Path,
    methods: Iterable[Any],
    out: str | Path,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    executor: str | None = None,
    threads: int = 1,
    seeds: int = 1,
    only: Iterable[str] = (),
    keep_estimates: bool = True,
    time_limit_s: float = 600.0,
    retry_failed: bool = False,
    again: str | Iterable[str] = (),
    keep_finished: bool = False,
    redo_changed: bool = False,
    isolate: bool | None = None,
    trust: bool = False,
    controls: bool = False,
    no_truth: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Runs methods on a benchmark and scores them; continues an interrupted call.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        methods: Names with options (`sgbm:block_size=5`), files (`.toml`, `.py`) or functions.
        out: The run folder. A run of the same benchmark and samples is continued:
            finished items are kept, new methods are added.
        workers: Worker processes; by default one for each core. 0: in this process, where nothing
            ends a method that takes too long.
        cluster: The address of a dask scheduler (`tcp://...`), in place of worker processes.
        executor: Another executor, `NAME:option=value,...`, in place of both; packages can add
            their own.
        threads: Threads of each worker and of the programs that it starts. One, so that estimates
            and their times do not depend on the number of workers; more, with fewer workers, for
            methods that need it; 0: as many as they like. Numba has one in any case.
        seeds: How often each method is run on each sample, with seeds 0, 1, ...
        only: Ids of the samples; if empty, all.
        keep_estimates: Whether estimates are stored, so that they can be scored again.
        time_limit_s: The longest that one estimate may take.
        retry_failed: Whether items that failed in an earlier call are tried again.
        again: Labels of methods that are run again on all samples; what the folder has of them is
            replaced, also where their code or options changed.
        keep_finished: Whether a method whose code changed keeps its good samples and is run on the
            others only; tables then say that two versions of its code are in them.
        redo_changed: Whether samples whose inputs or truth changed since they were scored are
            done again; otherwise they end the run before it begins.
        isolate: Whether the data, the run folder and other processes are hidden from methods: by
            default where the system can do it; True fails where it cannot.
        trust: Whether files are read without a look at the hashes that a dataset lists.
        controls: Whether views that are known to be right or wrong are scored, too: they show the
            scale of every metric.
        no_truth: Whether samples without truth are run too: their estimates are stored and not
            scored, for a submission to a public server.
        progress: Called after each item.

    Returns:
        The run. Samples on which a method failed are listed in its results, and scored as
        estimates without a single pixel.

    Raises:
        DepthgaugeError: The run could not be finished; finished items are kept.
    """
    protocol = find_benchmark(benchmark)
    named = [methods] if isinstance(methods, (str, Path)) else methods
    more = controls_of(protocol) if controls else ()
    found = tuple(_limited(m, time_limit_s) for m in find_methods([*named, *more]))
    where = Where(default_workers() if workers is None else workers, cluster, executor)
    check_call(found, where.workers, seeds, time_limit_s)
    root = Path(data).absolute()  # a method may change the working folder
    samples = samples_of(protocol, root, folders_of(found), trust=trust)
    protocol = with_bins_of(protocol, samples)
    rules = Rules.of(protocol, samples)
    chosen = choose(samples, [only] if isinstance(only, str) else only)
    known = list(chosen) if no_truth else _with_truth(chosen, protocol)
    check_ids(known)
    check_methods(found, protocol, known)
    if not no_truth:
        check_regions(rules, known[0])
    folder = Path(out).absolute()
    context = Context(
        folder,
        rules,
        protocol.dataset,
        found,
        keep_estimates,
        time_limit_s,
        threads,
        data=root,
        isolate=isolate,
        isolated=where.choice()[0] != "here",
        slots=where.workers,
    )
    require_hidden(context)
    left_out = sorted({sample.id for sample in chosen} - {sample.id for sample in known})
    planned = Plan(
        context,
        tuple(known),
        seeds,
        root,
        tuple(left_out),
        again=_labels(again, found),
        keep_finished=keep_finished,
    )
    return execute(
        planned,
        where,
        retry_failed=retry_failed,
        redo_changed=redo_changed,
        progress=progress,
    )


def _labels(again: str | Iterable[str], methods: Sequence[Method]) -> frozenset[str]:
    labels = frozenset([again] if isinstance(again, str) else again)
    known = {method.label for method in methods}
    for label in sorted(labels - known):
        raise unknown("method of this call to run again", label, known)
    return labels


def folders_of(methods: Sequence[Method]) -> list[Path]:
    """The folders of estimates, if every method is a folder."""
    found = [m.options.path for m in methods if isinstance(m.options, FolderOptions)]
    return found if len(found) == len(methods) else []


def _limited(method: Method, time_limit_s: float) -> Method:
    """Gives a method with its own clock the run's time limit, unless it has another."""
    options = method.options
    if "time_limit_s" not in method.described() or "time_limit_s" in options.model_fields_set:
        return method
    return replace(method, options=options.model_copy(update={"time_limit_s": time_limit_s}))


def score_folder(
    benchmark: str | Path | Protocol,
    data: str | Path,
    estimates: str | Path,
    out: str | Path,
    *,
    name: str | None = None,
    **options: Any,
) -> Run:
    """Scores an existing folder of estimates as a run.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        estimates: The folder of estimates.
        out: The run folder.
        name: The method's name, if the layout uses it in file names; also its label.
        options: Further options of `run`.

    Raises:
        NothingScored: Not one sample has a usable estimate.
    """
    if not Path(estimates).is_dir():
        raise BadData(f"{estimates}: there is no such folder of estimates.")
    protocol = find_benchmark(benchmark)
    if not options.get("only"):
        trust = bool(options.get("trust"))
        samples = samples_of(protocol, Path(data), [Path(estimates)], trust=trust)
        wanted = expected(samples, protocol, Path(estimates), name)
        if len(wanted) < len(samples):
            options["only"] = [sample.id for sample in wanted]
    method = find_method(f"folder:{estimates}", name)
    settings = {**method.described(), "name": name}
    method = replace(method, options=method.spec.options.model_validate(settings))
    done = run(protocol, data, [method], out, **options)
    failed = done.results[method.label, 0].failed
    if len(failed) == len(done.samples):
        first = next(iter(failed.values()))
        raise NothingScored(f"none of the {len(failed)} samples could be scored: {first}")
    return done


def execute(
    plan: Plan,
    where: Where,
    *,
    retry_failed: bool = False,
    redo_changed: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Runs the tasks that are not finished, then writes the tables."""
    context = plan.context
    if context.folder.exists():
        refuse_strange(context.folder)
    with open_folder(context.folder):
        refuse_strange(context.folder)
        info = begin(plan)
        tasks = list(_without_older(plan, info))
        there = look_at_items(context, tasks, retry_failed, plan.again)
        changed, record = refuse_changed_data(plan, there, redo_changed)
        anew = there.redo | changed
        write_record(context.folder, record)
        for name in anew:
            item_path(context.folder, name).unlink(missing_ok=True)
        done = finished(context.folder)
        left = [replace(t, again=t.id in anew) for t in tasks if t.id not in done]
        broken: list[str] = []
        if left:
            info = {**info, "finished": None}
            write_info(context.folder, info)
            broken = _do(context, left, where, len(tasks), progress)
        # First the tables of the methods that are complete: nobody else may withhold them.
        if info["finished"] is None or info["unfinished"] or not has_tables(context.folder):
            whole = finish(context, info)
            require_whole(broken, len(tasks), whole, context.folder)
    return load_run(context.folder)


def _without_older(plan: Plan, info: Mapping[str, Any]) -> Iterator[Task]:
    """The tasks whose samples are not kept from an older version of a method's code."""
    bodies = {body["label"]: body for body in (*info["methods"], *info["unfinished"])}
    for task in plan.tasks():
        body = bodies[plan.context.methods[task.method].label]
        if f"{task.seed}/{task.sample.id}" not in body.get("older", {}):
            yield task


def _do(
    context: Context, left: Sequence[Task], where: Where, n: int, progress: Progress | None
) -> list[str]:
    """Runs the tasks; returns why some have no item."""
    names = {task.id: f"{context.methods[task.method].label}: {task.sample.id}" for task in left}
    broken: list[str] = []
    done = n - len(left)
    if progress is not None:
        progress("starting", done, n)
    with closing(_events(context, left, where)) as events:
        for event in events:
            done += 1
            if event.broken:
                broken.append(f"{names[event.task]}: {event.broken}")
            elif not item_path(context.folder, event.task).is_file():
                raise BadData(
                    f"{context.folder}: a worker wrote its items elsewhere; the run folder must "
                    "be on storage that all machines share, under the same path."
                )
            if progress is not None:
                progress(names[event.task], done, n)
    return broken


def _events(context: Context, tasks: Sequence[Task], where: Where) -> Any:
    name, options = where.choice()
    executor = EXECUTORS[name]
    return executor.run(
        context, tasks, executor.spec.options.checked(options, f"executor '{name}'")
    )


def _with_truth(samples: Sequence[Sample], protocol: Protocol) -> list[Sample]:
    known = [sample for sample in samples if has_map(sample, protocol)]
    if not known:
        raise NothingScored(
            f"no sample of '{protocol.dataset}' ({protocol.split}) has a truth of "
            f"{protocol.quantity}; there is nothing to score. With no_truth (--no-truth) estimates "
            "are made and stored all the same."
        )
    return known


def default_workers() -> int:
    """One for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
