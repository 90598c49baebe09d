"""The plan of a run, and what `run.json` says about it."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from depthgauge.datasets import DATASETS
from depthgauge.engine.running.conditions import conditions_of
from depthgauge.engine.running.controls import Control, other_scene
from depthgauge.engine.running.hiding import described
from depthgauge.engine.running.task import Context, Task, task_id
from depthgauge.engine.store.item import read_item
from depthgauge.engine.store.machines import versions
from depthgauge.engine.store.run_folder import KIND, SCHEMA, item_path, read_info, write_info
from depthgauge.errors import BadData, DepthgaugeError, MethodChanged
from depthgauge.methods import Method
from depthgauge.types import Sample


@dataclass(frozen=True)
class Plan:
    """Everything that a run has to do."""

    context: Context
    samples: tuple[Sample, ...]
    seeds: int
    data: Path
    left_out: tuple[str, ...] = ()
    """Samples without truth."""
    own_seeds: Mapping[str, int] = field(default_factory=dict)
    """By label: methods that were run with another number of seeds."""
    before: Mapping[tuple[str, int, str], str] = field(default_factory=dict)
    """By label, seed and sample: why a method failed in the run that is scored again."""
    again: frozenset[str] = frozenset()
    """Labels of methods that are run again, even if they are finished."""
    keep_finished: bool = False
    """Whether finished samples of a method stay when its code has changed."""

    def seeds_of(self, method: Method) -> range:
        """The seeds that a method is given; controls have only one."""
        if isinstance(method, Control):
            return range(1)
        return range(self.own_seeds.get(method.label, self.seeds))

    def tasks(self) -> Iterator[Task]:
        """Sample after sample, so that a worker reads and prepares each truth once."""
        protocol_hash = self.context.protocol.hash
        for place, sample in enumerate(self.samples):
            for n, method in enumerate(self.context.methods):
                is_control = isinstance(method, Control)
                other = other_scene(self.samples, place) if is_control else None
                for seed in self.seeds_of(method):
                    name = task_id(
                        protocol_hash, method.label, method.options_hash, seed, sample.id
                    )
                    before = self.before.get((method.label, seed, sample.id), "")
                    yield Task(name, n, seed, sample, before=before, other=other)


def begin(plan: Plan) -> dict[str, Any]:
    """Writes `run.json`, or adds to the existing one."""
    context, folder = plan.context, plan.context.folder
    protocol = context.protocol
    info: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": KIND,
        "benchmark": protocol.id,
        "version": protocol.version,
        "protocol_hash": protocol.hash,
        "definition": protocol.model_dump(mode="json", exclude_unset=True),
        "protocol": protocol.resolved(),
        "data": str(plan.data),
        "samples": [sample.id for sample in plan.samples],
        "scenes": {sample.id: sample.scene for sample in plan.samples if sample.scene},
        **({"facts": facts} if (facts := _facts(plan)) else {}),
        "left_out": list(plan.left_out),
        "methods": [],
        "unfinished": [],
        "estimates": None if context.reuse_from is None else str(context.reuse_from),
        "made_by": versions(),
        "started": now(),
        "finished": None,
        "commands": [],
    }
    if (folder / "run.json").is_file():
        before = read_info(folder)
        _require_same(before, info, folder)
        info = {**before, "data": info["data"], "made_by": info["made_by"]}
    info = _add_methods(info, plan, folder)
    info["commands"] = list(dict.fromkeys([*info["commands"], _command()]))
    write_info(folder, info)
    return info


def _facts(plan: Plan) -> dict[str, dict[str, Any]]:
    """By sample: the numbers and words by which results can be split, where a dataset has some."""
    names = DATASETS[plan.context.dataset].spec.facts
    if not names:
        return {}
    return {
        sample.id: {name: sample.truth[name] for name in names if name in sample.truth}
        | ({} if sample.length is None else {"frames": sample.length})
        for sample in plan.samples
        if sample.truth is not None
    }


def _require_same(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    if before["protocol_hash"] != now["protocol_hash"]:
        raise BadData(
            f"{folder}: holds a run of {before['benchmark']} under protocol "
            f"{before['protocol_hash'][:12]}, not {now['protocol_hash'][:12]}; choose another "
            "folder, or use 'rescore'."
        )
    if before["estimates"] != now["estimates"]:
        whose = before["estimates"] or "its own"
        raise BadData(
            f"{folder}: holds scores of other estimates ({whose}); choose another folder."
        )
    if before["samples"] != now["samples"]:
        raise BadData(
            f"{folder}: holds a run of {len(before['samples'])} samples, not of these "
            f"{len(now['samples'])}; choose another folder."
        )


def _add_methods(info: dict[str, Any], plan: Plan, folder: Path) -> dict[str, Any]:
    """The methods of this call among those of the folder; a new one is unfinished for now."""
    done = {body["label"]: body for body in info["methods"]}
    begun = {body["label"]: body for body in info["unfinished"]}
    for method in plan.context.methods:
        body = _describe(method, plan)
        there = done.get(method.label)
        known = begun.get(method.label, there)
        if method.label in plan.again or known is None:
            begun[method.label] = body
        elif _is_same(known, body):
            if len(known["seeds"]) < len(body["seeds"]):
                begun[method.label] = {**body, **_older_of(known)}
        elif plan.keep_finished and _is_other_code(known, body):
            begun[method.label] = {**body, "older": _finished_before(known, info, folder)}
        elif there is not None and not _is_same(there, body):
            raise _changed(folder, method, there, body)
        else:
            begun[method.label] = body  # one of that label that was never finished gives way
    return {**info, "unfinished": list(begun.values())}


def _older_of(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"older": body["older"]} if "older" in body else {}


def _is_other_code(there: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Whether two methods differ only in their code."""
    names = ("method", "options", "revision")
    return bool(body["keeps"] and all(there.get(name) == body[name] for name in names))


def _finished_before(
    body: Mapping[str, Any], info: Mapping[str, Any], folder: Path
) -> dict[str, str]:
    """By `seed/sample`: the hash of the code that a good estimate was made by."""
    found: dict[str, str] = {}
    for name, key, options_hash in items_of(body, info):
        path = item_path(folder, name)
        with suppress(DepthgaugeError):
            if path.is_file() and not read_item(path).outcome.failed:
                found[key] = options_hash
    return found


def items_of(body: Mapping[str, Any], info: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A method's items by seed and sample: name, `seed/sample`, and the hash it was made with."""
    older = body.get("older", {})
    for seed in sorted(body["seeds"]):
        for sample in sorted(info["samples"]):
            key = f"{seed}/{sample}"
            made_with = older.get(key, body["options_hash"])
            name = task_id(info["protocol_hash"], body["label"], made_with, seed, sample)
            yield name, key, made_with


def _changed(
    folder: Path, method: Method, there: Mapping[str, Any], body: Mapping[str, Any]
) -> MethodChanged:
    code_only = _is_other_code(there, body)
    what = f"the code of method '{method.label}' changed since it was run"
    if not code_only:
        before, now = there["options"], body["options"]
        names = [name for name in now if before.get(name) != now[name]]
        listed = ", ".join(f"{name} {before.get(name)}, not {now[name]}" for name in names)
        what = f"has a method '{method.label}' with other options ({listed or 'a new revision'})"
    other = shlex.quote(f"NEW={method.text}")
    return MethodChanged(str(folder), method.label, what, other, code_only)


def _describe(method: Method, plan: Plan) -> dict[str, Any]:
    protocol = plan.context.protocol
    return {
        "label": method.label,
        "method": method.spec.id,
        "title": method.spec.title,
        "options": method.described(),
        "options_hash": method.options_hash,
        "revision": method.spec.revision,
        "keeps": method.spec.keeps,
        "kept": method.spec.keeps and plan.context.keep_estimates,
        "seeds": list(plan.seeds_of(method)),
        **described(method, plan.context),
        "threads": plan.context.threads,
        "time_limit_s": _finite(plan.context.limit_of(method)),
        **({"conditions": said} if (said := conditions_of(method, protocol)) else {}),
        **({"older_estimates": dict(method.older)} if method.older else {}),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _is_same(there: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    # The files of a `folder` are not in the hash of its options, so its path speaks for them.
    same_files = body["keeps"] or _given(there["options"]) == _given(body["options"])
    return bool(there["options_hash"] == body["options_hash"] and same_files)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say something; an older run knows fewer."""
    return {name: value for name, value in options.items() if value is not None}


def refuse_strange(folder: Path) -> None:
    """Rejects a folder with other content."""
    if folder.exists() and not folder.is_dir():
        raise BadData(f"{folder}: is a file; a run is a folder.")
    if folder.is_dir() and not (folder / "run.json").is_file():
        ours = re.compile(r"items|data|run\.lock|\.run\.json\..*\.part")
        strange = [path.name for path in folder.iterdir() if not ours.fullmatch(path.name)]
        if strange:
            raise BadData(
                f"{folder}: is not empty and holds no run ({strange[0]}); choose another folder."
            )


def _command() -> str:
    return shlex.join(["depthgauge", *sys.argv[1:]] if _is_cli() else [Path(sys.argv[0]).name])


def _is_cli() -> bool:
    return Path(sys.argv[0]).name in ("depthgauge", "__main__.py")


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
