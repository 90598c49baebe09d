"""How a run ends: tables from finished items, and which items must be made again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from depthgauge.engine.running.plan import items_of, now
from depthgauge.engine.running.task import Context, Task, task_id
from depthgauge.engine.store.item import Item, read_item
from depthgauge.engine.store.parquet import write_tables
from depthgauge.engine.store.run_folder import finished, item_path, write_info
from depthgauge.engine.store.submitted_estimates import is_stale
from depthgauge.errors import BadData, BadFile


def finish(context: Context, info: Mapping[str, Any]) -> None:
    """Writes the tables of all methods whose items are complete; others stay unfinished.

    A method that an earlier call did not finish does not hold back the scores of the others.
    """
    folder, there = context.folder, finished(context.folder)
    bodies = {body["label"]: body for body in info["methods"]}
    left = []
    for body in info["unfinished"]:
        if there.issuperset(name for name, _, _ in items_of(body, info)):
            bodies[body["label"]] = body
        else:
            left.append(body)
    wanted = [name for _, body in sorted(bodies.items()) for name, _, _ in items_of(body, info)]
    if lacking := set(wanted) - there:
        raise BadData(
            f"{folder}: {len(lacking)} of {len(wanted)} finished items are gone; run the command "
            "that made them again."
        )
    notes: list[dict[str, Any]] = []
    items = _noting((_item(folder, name, info) for name in wanted), notes)
    write_tables(folder, context.protocol, _same_truth(items, folder))
    said = {"methods": list(bodies.values()), "unfinished": left, "finished": now()}
    write_info(folder, {**info, **said, "notes": notes})


def items_to_redo(
    context: Context, tasks: Sequence[Task], retry_failed: bool, again: Collection[str] = ()
) -> set[str]:
    """Finished items that must be made again: those of replaced files, and failed ones.

    Args:
        context: The context of the run.
        tasks: All tasks.
        retry_failed: Whether failed ones are made again.
        again: Labels of methods whose items are all made again.
    """
    there = finished(context.folder)
    found = {task.id for task in tasks if context.methods[task.method].label in again}
    for task in tasks:
        foreign = not context.methods[task.method].spec.keeps
        if task.id not in there or not (retry_failed or foreign):
            continue
        try:
            item = read_item(item_path(context.folder, task.id))
        except BadFile:
            found.add(task.id)  # a damaged one
            continue
        if (retry_failed and item.outcome.failed) or is_stale(item, task, context):
            found.add(task.id)
    return found


def _item(folder: Path, name: str, info: Mapping[str, Any]) -> Item:
    """A finished item, checked against its file name."""
    path = item_path(folder, name)
    item = read_item(path)
    key = (item.method, item.options_hash, item.seed, item.sample)
    if task_id(info["protocol_hash"], *key) != name:
        raise BadFile(f"{path}: is not the item that was written there; delete it and run again.")
    return item


def _noting(items: Iterable[Item], notes: list[dict[str, Any]]) -> Iterator[Item]:
    """Passes the items on, and collects what speaks against the way in which they were read."""
    for item in items:
        whose = {"method": item.method, "seed": item.seed}
        notes += [{**whose, "note": note.to_json()} for note in item.outcome.notes]
        yield item


def _same_truth(items: Iterable[Item], folder: Path) -> Iterator[Item]:
    """Passes the items on; rejects a run whose data changed between two commands."""
    hashes: dict[str, str] = {}
    for item in items:
        if hashes.setdefault(item.sample, item.outcome.truth_hash) != item.outcome.truth_hash:
            raise BadData(
                f"{folder}: the truth of sample '{item.sample}' changed while this run was made; "
                "begin a new run in another folder."
            )
        yield item
