"""The stored estimates of a run, scored again under another protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from depthgauge._once import cached_property
from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.engine.running.data_check import require_same_data
from depthgauge.engine.running.plan import Plan
from depthgauge.engine.running.run import Where, default_workers, execute, folders_of
from depthgauge.engine.running.task import Context
from depthgauge.engine.scoring.data_bins import with_bins_of
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.engine.store.load import load_run
from depthgauge.engine.store.parquet import read_failures
from depthgauge.engine.store.record import Entrant, Run
from depthgauge.engine.store.run_folder import entrants_of, find_data, read_info, require_finished
from depthgauge.errors import BadData, MethodFailed
from depthgauge.methods import Method, MethodKind, MethodOptions, MethodSpec, find_method
from depthgauge.types import Inputs


def rescore(
    source: str | Path,
    benchmark: str | Path | Protocol,
    out: str | Path,
    *,
    data: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    executor: str | None = None,
    threads: int = 1,
    only: Iterable[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Scores the estimates that a run kept under another protocol; no method is called.

    Methods whose estimates were not kept are left out.

    Args:
        source: The run folder.
        benchmark: The other protocol, of the same quantity.
        out: The folder of the new run.
        data: The dataset's folder; by default the one that the run used.
        workers: Worker processes; by default one for each core. 0: in this process.
        cluster: The address of a dask scheduler, in place of worker processes.
        executor: Another executor, `NAME:option=value,...`, in place of both.
        threads: Threads of each worker.
        only: Ids of the samples; all of the run where it is empty.
        progress: Called after each item.
    """
    folder = Path(source).absolute()
    info = read_info(folder)
    protocol = find_benchmark(benchmark)
    _require_same_task(info, protocol, folder)
    require_finished(folder, info)
    root = find_data(info, data)
    require_same_data([load_run(folder)], root)
    entrants = [e for e in entrants_of(info) if _has_estimates(info, e.label)]
    methods = tuple(recorded(entrant) for entrant in entrants)
    samples = samples_of(protocol, root, folders_of(methods), trust=True)
    protocol = with_bins_of(protocol, samples)
    wanted = set(only) or set(info["samples"])
    chosen = tuple(sample for sample in samples if sample.id in wanted)
    if lacking := sorted(wanted - {sample.id for sample in chosen}):
        raise BadData(
            f"{root}: has no sample '{lacking[0]}', for which {folder} has estimates; "
            "name the folder with --data."
        )
    if not entrants:
        raise BadData(f"{folder}: its estimates were not kept; run the methods again.")
    context = Context(
        folder=Path(out).absolute(),
        rules=Rules.of(protocol, samples),
        dataset=protocol.dataset,
        methods=methods,
        threads=threads,
        reuse_from=Path(info.get("estimates") or folder / "estimates"),
    )
    where = Where(default_workers() if workers is None else workers, cluster, executor)
    plan = Plan(
        context,
        chosen,
        1,
        root,
        own_seeds={entrant.label: len(entrant.seeds) for entrant in entrants},
        before=read_failures(folder),
    )
    # What the run lacked when it was last scored again may be there by now.
    return execute(plan, where, retry_failed=True, progress=progress)


def _has_estimates(info: Mapping[str, Any], label: str) -> bool:
    body = next(body for body in info["methods"] if body["label"] == label)
    return bool(body["kept"] or not body["keeps"])


def _require_same_task(info: Mapping[str, Any], protocol: Protocol, folder: Path) -> None:
    before = info["definition"].get("quantity")
    if before != protocol.quantity:
        raise BadData(
            f"{folder}: its estimates are of {before}, {protocol.id} scores {protocol.quantity}; "
            "choose a benchmark of the same quantity."
        )
    damage = info["definition"].get("perturb", "")
    if damage != protocol.perturb:
        raise BadData(
            f"{folder}: its estimates were made from {_images(damage)}, {protocol.id} wants those "
            f"of {_images(protocol.perturb)}; run the methods again."
        )


def _images(perturb: str) -> str:
    return f"images with {perturb}" if perturb else "images as they are"


def recorded(entrant: Entrant) -> Method:
    """A method of a run as it was recorded; one that only reads files can be called again."""
    if entrant.method == "folder":
        method = find_method(f"folder:{entrant.options['path']}", entrant.label)
        return replace(method, options=method.spec.options.model_validate(dict(entrant.options)))
    spec = MethodSpec(entrant.method, entrant.title, quantities=(), needs=())
    kind = MethodKind(spec, _not_again, home="")
    return RecordedMethod(
        kind,
        MethodOptions(),
        entrant.label,
        entrant.method,
        entrant.options,
        entrant.options_hash,
        entrant.older,
        entrant.conditions,
    )


@dataclass(frozen=True)
class RecordedMethod(Method):
    """A method known only from a run folder: its estimates are stored, its code is not."""

    recorded_options: Mapping[str, Any] = field(default_factory=dict)
    recorded_hash: str = ""
    recorded_older: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def recorded_conditions(self) -> Mapping[str, Any]:
        """As they were recorded."""
        return self.conditions

    @property
    def most_frames(self) -> int | None:
        """As it was recorded."""
        return self.conditions.get("frames")

    @property
    def older(self) -> Mapping[str, str]:
        """As it was recorded."""
        return self.recorded_older

    @cached_property
    def options_hash(self) -> str:
        """As it was recorded."""
        return self.recorded_hash

    def described(self) -> dict[str, Any]:
        """All options, as they were recorded."""
        return dict(self.recorded_options)

    def __reduce__(self) -> tuple[Callable[..., Method], tuple[Any, ...]]:
        spec = self.spec
        made = Entrant(
            self.label,
            spec.id,
            spec.title,
            self.recorded_options,
            self.recorded_hash,
            older=self.older,
            conditions=self.conditions,
        )
        return recorded, (made,)


def _not_again(inputs: Inputs, options: Any) -> NoReturn:
    raise MethodFailed("this method is only known from a run; it cannot be called.")
