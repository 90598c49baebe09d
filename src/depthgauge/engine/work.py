"""One task from inputs to a file in the run folder: estimate, keep, score, record."""

from __future__ import annotations

import math
import platform
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.datasets import DATASETS, Dataset, things_hash
from depthgauge.engine.estimates import Stored, find_stored, keep, plain_extras
from depthgauge.engine.evaluate import locate
from depthgauge.engine.item import Item, write_item
from depthgauge.engine.judge import Judge, Outcome
from depthgauge.engine.record import Timing
from depthgauge.engine.task import Context, Task
from depthgauge.errors import BadEstimate, DepthgaugeError, MethodFailed
from depthgauge.methods import Method, Usage, metered
from depthgauge.types import Estimate, Inputs, Sample, is_known

_MOST_DETAILS = 4000
_NOTHING = Usage(math.nan, math.nan, None)


@dataclass(frozen=True)
class _Made:
    """An estimate, or why there is none."""

    estimate: Estimate | None = None
    usage: Usage = _NOTHING
    path: Path | None = None
    """Where it lies on disk."""
    failed: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True)
class Finder:
    """Where a sample's estimate lies in a folder that somebody else made."""

    dataset: Dataset
    sample: str
    quantity: str

    def find(self, root: Path, name: str | None = None) -> Path:
        """The one file of this sample; an error that says where it was looked for."""
        return locate(self.dataset, root, self.sample, self.quantity, name)


def do_task(task: Task, context: Context, judge: Judge, estimated: Callable[[], None]) -> str:
    """Makes, scores and records one estimate.

    Args:
        task: What to do.
        context: What all tasks share.
        judge: Scores; keeps the truth of the last sample.
        estimated: Called when the method has returned, so that its time limit no longer runs.

    Returns:
        Why the method failed here; empty where it did not.

    Raises:
        DepthgaugeError: The sample itself cannot be used, or nothing can be written.
    """
    method = context.methods[task.method]
    made = _estimate(task, context, method)
    estimated()
    began = time.perf_counter()
    outcome = _judge(task.sample, made, context.protocol, judge)
    timing = Timing(
        method=method.label,
        seed=task.seed,
        sample=task.sample.id,
        time_s=made.usage.time_s,
        cpu_s=made.usage.cpu_s,
        peak_memory_mb=math.nan if (peak := made.usage.peak_memory_mb) is None else peak,
        score_s=time.perf_counter() - began,
        host=platform.node(),
    )
    item = Item(
        method=method.label,
        options_hash=method.options_hash,
        seed=task.seed,
        sample=task.sample.id,
        outcome=outcome,
        timing=timing,
        estimate_hash="" if made.estimate is None else estimate_hash(made.estimate),
        details=made.details,
        extras=_extras(method, made),
    )
    write_item(context.folder / "items" / f"{task.id}.json", item)
    return outcome.failed


def _extras(method: Method, made: _Made) -> dict[str, Any]:
    """What a method told besides; of a file that is not ours, also which one it was."""
    if made.estimate is None:
        return {}
    told = plain_extras(made.estimate.extras)
    if method.spec.keeps or made.path is None:
        return told
    return {**told, "stamp": _stamp(made.path)}


def is_stale(item: Item, task: Task, context: Context) -> bool:
    """Whether an item was made of a file that is not ours and has changed since, or is another."""
    method = context.methods[task.method]
    if method.spec.keeps:
        return False
    finder = Finder(DATASETS[context.dataset], task.sample.id, context.protocol.quantity)
    options: Any = method.options
    try:
        path = finder.find(options.path, options.name)
        return [str(path), _stamp(path)] != [item.extras.get(key) for key in ("path", "stamp")]
    except (OSError, DepthgaugeError):
        return True


def _stamp(path: Path) -> str:
    """Its size and when it was changed; what is replaced has another."""
    about = path.stat()
    return f"{about.st_size} bytes, {about.st_mtime_ns} ns"


def estimate_hash(estimate: Estimate) -> str:
    """The same for the same values, however they are stored."""
    return things_hash({"values": estimate.values})


def _estimate(task: Task, context: Context, method: Method) -> _Made:
    if task.failed:
        return _Made(failed=task.failed, details=task.details)
    stored = find_stored(context, method, task)
    if stored is not None:
        return _Made(stored.estimate, stored.usage, stored.path)
    if context.reuse_from is not None and method.spec.keeps:
        return _Made(failed="the run that is scored again has no estimate of this sample.")
    made = _call(method, task, context)
    if made.estimate is not None and method.spec.keeps and context.keep_estimates:
        path = keep(context, method, task, Stored(made.estimate, made.usage))
        return replace(made, path=path)
    return made


def _call(method: Method, task: Task, context: Context) -> _Made:
    """Calls the method; whatever it raises is its failure, not ours."""
    inputs = _inputs(method, task, context)
    quantity = context.protocol.quantity
    try:
        estimate, usage = metered(lambda: method.estimate(inputs, quantity))
        path = estimate.extras.get("path")
        own = estimate.extras.get("usage")
        _check(estimate, quantity)
    except MethodFailed as error:
        return _Made(failed=str(error), details=str(getattr(error, "details", "")))
    except DepthgaugeError as error:
        return _Made(failed=str(error))
    except MemoryError:
        return _Made(failed="there was not enough memory for the method.")
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:300]
        why = f"the method raised {type(error).__name__}" + (f": {said}" if said else "")
        return _Made(failed=f"{why}.", details=traceback.format_exc()[-_MOST_DETAILS:])
    return _Made(estimate, own or usage, None if path is None else Path(path))


def _inputs(method: Method, task: Task, context: Context) -> Inputs:
    """What the method may see, read already, so that its time is its own."""
    own = task.sample.inputs.fresh()
    quantity = context.protocol.quantity
    given = {
        "sample": task.sample.id,
        "quantity": quantity,
        "seed": task.seed,
        "finder": Finder(DATASETS[context.dataset], task.sample.id, quantity),
    }
    for name in method.spec.needs:
        if name in own:
            own[name]
    return Inputs({name: partial(own.__getitem__, name) for name in own} | given)


def _check(estimate: Estimate, quantity: str) -> None:
    if estimate.quantity != quantity:
        raise BadEstimate(f"the method gave {estimate.quantity}; expected {quantity}.")
    if not is_known(estimate.values).any():
        raise BadEstimate("the method's estimate has no finite value.")


def _judge(sample: Sample, made: _Made, protocol: Protocol, judge: Judge) -> Outcome:
    estimate, path = made.estimate, made.path
    if estimate is None:
        if not judge.has_truth(sample):
            return Outcome(failed=made.failed, left_out=(sample.id,), skipped=True)
        return judge.score_none(sample, made.failed)
    if protocol.twin is not None:
        return judge.score_file(sample, partial(_on_disk, path))
    return judge.score_map(sample, lambda: estimate.values)


def _on_disk(path: Path | None) -> Path:
    if path is None:
        raise BadEstimate("a twin reads estimates from files, so they have to be kept.")
    return path
