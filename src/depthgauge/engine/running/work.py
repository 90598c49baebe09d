"""One task, from inputs to a file in the run folder: estimate, store, score, record."""

from __future__ import annotations

import math
import platform
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS
from depthgauge.engine.running.conditions import allowed
from depthgauge.engine.running.controls import Control
from depthgauge.engine.running.data_check import clip_hashes, input_hashes, reported
from depthgauge.engine.running.hosts import Hosts
from depthgauge.engine.running.task import GIVEN, Context, Task
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.engine.store.estimates import (
    Place,
    StoredEstimate,
    estimate_hash,
    find_stored,
    keep,
    plain_extras,
    read_stored,
)
from depthgauge.engine.store.item import Item, write_item
from depthgauge.engine.store.record import Timing
from depthgauge.engine.store.run_folder import item_path
from depthgauge.engine.store.sanitize import cut, reason
from depthgauge.engine.store.submitted_estimates import Finder
from depthgauge.errors import (
    BadData,
    BadEstimate,
    DepthgaugeError,
    LostSample,
    MethodFailed,
    Unavailable,
    UnreadableInput,
    WorkerLost,
)
from depthgauge.methods import Method, Usage, isolated, metered
from depthgauge.quantities import QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Inputs, Map, is_known

_NOTHING = Usage(math.nan, math.nan, None)


@dataclass(frozen=True)
class _Attempt:
    """An estimate, or why there is none."""

    estimate: Estimate | ClipEstimate | None = None
    usage: Usage = _NOTHING
    path: Path | None = None
    """The submitted file that it was read from."""
    sha256: str = ""
    """SHA-256 of its values."""
    failed: str = ""
    details: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Hashes of the inputs that were read for it."""


def do_task(
    task: Task,
    context: Context,
    judge: Judge,
    hosts: Hosts | None,
    estimated: Callable[[], None],
) -> str:
    """Makes, scores and records one estimate.

    Args:
        task: What to do.
        context: What all tasks share.
        judge: Scores; keeps the truth of the last sample.
        hosts: The processes of the methods; None: methods are called in this process.
        estimated: Called when the method has returned, so that its time limit no longer runs.

    Returns:
        Why the method failed here; empty if it did not.

    Raises:
        DepthgaugeError: The sample itself cannot be used, or nothing can be written.
    """
    method = context.methods[task.method]
    lost = ""
    try:
        made = _estimate(task, context, method, hosts)
    except LostSample as error:
        made, lost = _Attempt(), str(error)
    estimated()
    began = time.perf_counter()
    if lost:
        outcome = Outcome(left_out=(f"{task.sample.id}: {lost}",), skipped=True)
    else:
        outcome = _judge(task, made, context, judge)
    timing = Timing(
        method=method.label,
        seed=task.seed,
        sample=task.sample.id,
        time_s=made.usage.time_s,
        cpu_s=made.usage.cpu_s,
        peak_memory_mb=math.nan if (peak := made.usage.peak_memory_mb) is None else peak,
        score_s=time.perf_counter() - began,
        host=cut(platform.node()),
    )
    item = Item(
        method=method.label,
        options_hash=method.options_hash,
        seed=task.seed,
        sample=task.sample.id,
        outcome=outcome,
        timing=timing,
        estimate_hash=made.sha256,
        details=cut(made.details),
        extras={} if made.estimate is None else plain_extras(made.estimate.extras),
        inputs=made.inputs,
    )
    write_item(item_path(context.folder, task.id), item)
    return outcome.failed


def _estimate(task: Task, context: Context, method: Method, hosts: Hosts | None) -> _Attempt:
    if task.failed:
        return _Attempt(failed=task.failed, details=task.details)
    if isinstance(method, Control):
        return _control(method, task)
    if not method.spec.keeps:  # it only reads files, and is ours
        return _call(method, task, context, None)
    root = context.reuse_from or context.folder / "estimates"
    place = Place(root, method.label, task.seed, task.sample.id)
    if context.reuse_from is not None:
        return _stored_before(place, task, context, method)
    known = None
    if not task.again:
        known = find_stored(place, context.protocol.quantity, method.options_hash)
    if known is not None:
        return _Attempt(known.estimate, known.usage, sha256=known.sha256)
    made = _call(method, task, context, hosts)
    if made.estimate is not None and context.keep_estimates:
        keep(place, method, StoredEstimate(made.estimate, made.usage, made.sha256))
    return made


def _control(method: Control, task: Task) -> _Attempt:
    """The views of a control; where there are none, it has no score there."""
    try:
        views = method.views(task.sample, task.other)
        return _Attempt(views, sha256=estimate_hash(views))
    except Unavailable as error:
        return _Attempt(failed=reason(str(error)))


def _stored_before(place: Place, task: Task, context: Context, method: Method) -> _Attempt:
    """The estimate of the run that is scored again; a lost one is not a failure of the method."""
    try:
        hashes = (method.options_hash, *method.older.values())
        stored = read_stored(place, context.protocol.quantity, *hashes)
    except BadData:
        if task.before:
            return _Attempt(failed=task.before)
        raise
    return _Attempt(stored.estimate, stored.usage, sha256=stored.sha256)


def _call(method: Method, task: Task, context: Context, hosts: Hosts | None) -> _Attempt:
    """Calls the method, and takes down the inputs that were read for it."""
    inputs = _inputs(method, task, context)
    # Before the method can change them; what it asks for later is hashed where it cannot.
    hashes = input_hashes(inputs, GIVEN)
    made = _asked(method, task, context, inputs, hosts)
    if hosts is not None:
        hashes |= input_hashes(inputs, {*GIVEN, *hashes})
    if method.spec.keeps:  # a folder of estimates reads no inputs
        hashes |= clip_hashes(inputs)
    return replace(made, inputs=hashes)


def _asked(
    method: Method, task: Task, context: Context, inputs: Inputs, hosts: Hosts | None
) -> _Attempt:
    """What the method makes of its inputs; whatever it raises is its failure, not ours."""
    quantity = context.protocol.quantity
    try:
        if hosts is not None:
            estimate, usage = hosts.estimate(task, inputs)
        else:
            with isolated(task.sample.id, task.seed):
                estimate, usage = metered(lambda: method.estimate(inputs, quantity))
        if method.spec.keeps and not _has_values(estimate):
            raise BadEstimate(f"the estimate of method '{method.label}' has no finite value.")
    except (WorkerLost, UnreadableInput):
        raise  # changed code, or bad data: nobody's sample may be lost by that
    except MethodFailed as error:
        return _Attempt(failed=reason(str(error)), details=error.details)
    except DepthgaugeError as error:
        return _Attempt(failed=reason(str(error)))
    except MemoryError:
        return _Attempt(failed="there was not enough memory for the method.")
    path = estimate.extras.get("path")
    # Reading a file is no cost of the method that wrote it.
    own = _told_usage(method, estimate.extras) or (usage if method.spec.keeps else _NOTHING)
    foreign = not method.spec.keeps and isinstance(path, str)
    sha256 = estimate_hash(estimate)
    source = Path(str(path)) if foreign else None
    return _Attempt(estimate, own, source, sha256)


def _told_usage(method: Method, extras: Mapping[str, Any]) -> Usage | None:
    """The cost of the program that `command` started, or that a folder tells; nobody else's."""
    told = extras.get("usage")
    if method.kind.home not in ("command", "folder"):
        return None
    return Usage(**told) if isinstance(told, Mapping) else told


def _has_values(estimate: Estimate | ClipEstimate) -> bool:
    frames = estimate.frames if isinstance(estimate, ClipEstimate) else [estimate]
    main = QUANTITIES[estimate.quantity].main
    maps = (frame.values for frame in frames if frame is not None)
    return any(main.is_known(values).any() for values in maps)


def _inputs(method: Method, task: Task, context: Context) -> Inputs:
    """What the method may see; what it needs is read beforehand and does not count as its time.

    An input that cannot be read is a fault of the data, not of the method, whenever it is read.
    """
    own = allowed(reported(_perturbed(task, context)), method, context.protocol)
    quantity = context.protocol.quantity
    needs = method.spec.needs or tuple(own)
    for name in needs:
        if name in own:
            own[name]
    given = {"sample": task.sample.id, "quantity": quantity, "seed": task.seed}
    if "finder" in needs:
        sample = task.sample
        said = context.protocol.reading.estimate.reading
        given["finder"] = Finder(
            DATASETS[context.dataset], sample.id, quantity, sample.length, said
        )
    return Inputs({**own.__getstate__(), **own.at_hand(), **given})


def _perturbed(task: Task, context: Context) -> Inputs:
    """The inputs, damaged in the way that the protocol says."""
    own = task.sample.inputs.fresh()
    if not context.protocol.perturb:
        return own
    from depthgauge.perturbations import parse_perturbation, perturb_inputs

    return perturb_inputs(own, parse_perturbation(context.protocol.perturb), task.sample.id)


def _judge(task: Task, made: _Attempt, context: Context, judge: Judge) -> Outcome:
    estimate, sample = made.estimate, task.sample
    if estimate is None:
        return judge.score_none(sample, made.failed)
    if isinstance(estimate, ClipEstimate):
        estimate = replace(estimate, declared=context.methods[task.method].most_frames)
    if context.protocol.twin is None or isinstance(estimate, ClipEstimate):
        return judge.score_map(sample, lambda: estimate)
    if made.path is not None:
        return judge.score_file(sample, partial(Path, made.path))
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as folder:
        path = _public_file(Path(folder), estimate, context.protocol.twin)
        return judge.score_file(sample, partial(Path, path))


def _public_file(folder: Path, estimate: Estimate, twin: str) -> Path:
    """The estimate as a file that the public program reads; other parts are beside it."""
    declared = QUANTITIES[estimate.quantity]
    for part in declared.parts[1:]:
        if part.is_map and part.name in estimate.parts:
            np.save(folder / f"{part.name}.npy", _marked(estimate.parts[part.name], twin))
    path = folder / f"{declared.main.name}.npy"
    np.save(path, _marked(estimate.values, twin))
    return path


def _marked(values: Map, twin: str) -> Map:
    """Missing pixels marked as a public program expects them: many count NaN as a number."""
    known = is_known(values)
    mark = np.float32(TWINS[twin].missing)
    return np.where(known if values.ndim == 2 else known[..., None], values, mark)
