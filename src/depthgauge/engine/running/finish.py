"""How a run ends: tables from finished items, and which items must be made again."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge.engine.running.data_check import DataState, changed_samples
from depthgauge.engine.running.plan import Plan, items_of, now
from depthgauge.engine.running.task import Context, Task, task_id
from depthgauge.engine.store.data_record import DataRecord, read_record, write_record
from depthgauge.engine.store.item import Item, read_item
from depthgauge.engine.store.machines import read_machines
from depthgauge.engine.store.parquet import write_tables
from depthgauge.engine.store.run_folder import finished, item_path, write_info
from depthgauge.engine.store.submitted_estimates import is_stale
from depthgauge.errors import BadData, BadFile, RunWarning


def finish(context: Context, info: Mapping[str, Any]) -> bool:
    """Writes the tables of all methods whose items are complete; others stay unfinished.

    A method that an earlier call did not finish, or whose items were damaged or lost since, does
    not hold back the scores of the others.

    Returns:
        False where no method is complete; nothing is written then.

    Raises:
        BadData: The data changed while the run was made.
    """
    folder, there = context.folder, finished(context.folder)
    known = [*info["methods"], *info["unfinished"]]
    # Of a method that is run again with other code or options, the later one counts.
    bodies = {body["label"]: body for body in known if _is_complete(body, info, there)}
    for body in info["methods"]:
        if body["label"] not in bodies:
            _warn_left_out(folder, body["label"], "some of its items are gone")
    while bodies:
        try:
            written = _write_tables(context, info, bodies)
            break
        except _DamagedItem as found:
            del bodies[found.label]
            _warn_left_out(folder, found.label, str(found.error).rstrip("."))
    else:
        return False
    left = {body["label"]: body for body in info["methods"] if body["label"] not in bodies}
    left |= {b["label"]: b for b in info["unfinished"] if bodies.get(b["label"]) is not b}
    said = {"methods": list(bodies.values()), "unfinished": list(left.values())}
    write_info(folder, {**info, **said, **written, "finished": now()})
    return True


def require_whole(broken: Sequence[str], n: int, any_method: bool, folder: Path) -> None:
    """Ends a command that left items without a score, or a folder without tables.

    Raises:
        BadData: There are such.
    """
    if broken:
        more = f" ({len(broken)} of {n} items have no score)" if len(broken) > 1 else ""
        raise BadData(f"{broken[0]}{more}; finished items are kept; run the same command again.")
    if not any_method:
        raise BadData(
            f"{folder}: finished items are gone or damaged; run the command that made them again."
        )


def _is_complete(body: Mapping[str, Any], info: Mapping[str, Any], there: set[str]) -> bool:
    return there.issuperset(name for name, _, _ in items_of(body, info))


def _warn_left_out(folder: Path, label: str, why: str) -> None:
    said = f"{folder}: '{label}' is not in the tables ({why}); run it again."
    warnings.warn(said, RunWarning, stacklevel=3)


def _write_tables(
    context: Context, info: Mapping[str, Any], bodies: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Writes the tables of these methods; returns what `run.json` says about them."""
    folder = context.folder
    notes: list[dict[str, Any]] = []
    inputs: dict[str, dict[str, str]] = {}
    items = _noting(_items(folder, info, bodies), notes)
    write_tables(folder, context.protocol, _same_data(items, folder, inputs))
    write_record(folder, DataRecord(read_record(folder).files, inputs))
    return {"notes": notes, "machines": read_machines(folder)}


class _DamagedItem(Exception):
    """An item of a method cannot be read."""

    def __init__(self, label: str, error: BadFile) -> None:
        super().__init__(label)
        self.label = label
        self.error = error


def _items(
    folder: Path, info: Mapping[str, Any], bodies: Mapping[str, Mapping[str, Any]]
) -> Iterator[Item]:
    for label, body in sorted(bodies.items()):
        for name, _, _ in items_of(body, info):
            try:
                yield _checked_item(folder, name, info["protocol_hash"])
            except BadFile as error:
                raise _DamagedItem(label, error) from error


@dataclass
class FinishedItems:
    """What a run folder has before anything is done."""

    redo: set[str] = field(default_factory=set)
    """Items that have to be made again: damaged, failed, or of replaced files."""
    inputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """By sample and name: hashes of the inputs that were read."""
    truths: dict[str, str] = field(default_factory=dict)
    """By sample: hash of the truth."""
    methods: dict[str, set[str]] = field(default_factory=dict)
    """By sample: the labels of the methods that were scored there."""

    def add(self, item: Item) -> None:
        """Takes down what an item was made from."""
        if item.inputs is not None:
            self.inputs.setdefault(item.sample, {}).update(item.inputs)
        if item.outcome.truth_hash:
            self.truths[item.sample] = item.outcome.truth_hash
        self.methods.setdefault(item.sample, set()).add(item.method)


def look_at_items(
    context: Context, tasks: Sequence[Task], retry_failed: bool, again: Collection[str] = ()
) -> FinishedItems:
    """Reads all finished items of a folder once.

    Args:
        context: The context of the run.
        tasks: All tasks.
        retry_failed: Whether failed ones are made again.
        again: Labels of methods whose items are all made again.
    """
    by_id = {task.id: task for task in tasks}
    found = FinishedItems({t.id for t in tasks if context.methods[t.method].label in again})
    for name in sorted(finished(context.folder) - found.redo):
        task = by_id.get(name)
        try:
            item = _checked_item(context.folder, name, context.protocol.hash)
        except BadFile as error:
            if task is not None:
                warnings.warn(f"{error} It is made again.", RunWarning, stacklevel=2)
                found.redo.add(name)
            continue
        failed = retry_failed and (item.outcome.failed or item.outcome.skipped)
        if task is not None and (failed or is_stale(item, task, context)):
            found.redo.add(name)
        else:
            found.add(item)
    return found


def refuse_changed_data(
    plan: Plan, there: FinishedItems, redo: bool
) -> tuple[set[str], DataRecord]:
    """Compares the data with what finished items were made from.

    Returns:
        Items that have to be made again, where `redo` allows it; and the record of the data as
        it is now.

    Raises:
        BadData: The inputs or the truth of a sample changed.
    """
    folder = plan.context.folder
    record = DataRecord(read_record(folder).files, there.inputs)
    changed, marks = changed_samples(
        plan.samples, plan.data, record, there.truths, plan.context.rules
    )
    if changed and not redo:
        raise BadData(
            f"{folder}: {DataState('changed', changed).sentence}; put the files back, begin a new "
            "run in another folder, or score them again with --redo-changed."
        )
    labels = {method.label for method in plan.context.methods}
    for sample in changed:
        if others := sorted(there.methods.get(sample, set()) - labels):
            raise BadData(
                f"{folder}: '{others[0]}' was scored on the former data of sample '{sample}', too; "
                "name it in the same command."
            )
    inputs = {name: table for name, table in there.inputs.items() if name not in changed}
    again = {task.id for task in plan.tasks() if task.sample.id in changed}
    return again, DataRecord({**record.files, **marks}, inputs)


def _checked_item(folder: Path, name: str, protocol_hash: str) -> Item:
    """A finished item, checked against its file name."""
    path = item_path(folder, name)
    item = read_item(path)
    key = (item.method, item.options_hash, item.seed, item.sample)
    if task_id(protocol_hash, *key) != name:
        raise BadFile(f"{path}: is not the item that was written there; run again.")
    return item


def _noting(items: Iterable[Item], notes: list[dict[str, Any]]) -> Iterator[Item]:
    """Passes the items on, and collects what speaks against the way in which they were read."""
    for item in items:
        whose = {"method": item.method, "seed": item.seed}
        notes += [{**whose, "note": note.to_json()} for note in item.outcome.notes]
        yield item


def _same_data(
    items: Iterable[Item], folder: Path, inputs: dict[str, dict[str, str]]
) -> Iterator[Item]:
    """Passes the items on and takes down their inputs; refuses a run whose data changed."""
    hashes: dict[str, str] = {}
    unknown: set[str] = set()
    for item in items:
        known = inputs.setdefault(item.sample, {})
        for name, sha256 in (item.inputs or {}).items():
            if known.setdefault(name, sha256) != sha256:
                raise BadData(
                    f"{folder}: {name} of sample '{item.sample}' changed while this run was made; "
                    "score the sample again with --redo-changed."
                )
        if item.inputs is None:
            unknown.add(item.sample)
        if item.outcome.skipped:
            yield item
            continue
        if hashes.setdefault(item.sample, item.outcome.truth_hash) != item.outcome.truth_hash:
            raise BadData(
                f"{folder}: the truth of sample '{item.sample}' changed while this run was made; "
                "score the sample again with --redo-changed."
            )
        yield item
    for sample in unknown:  # of an earlier version: not known as a whole
        del inputs[sample]
