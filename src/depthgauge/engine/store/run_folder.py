"""The run folder: `run.json`, one file per finished item, and the tables made of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.engine.store.record import Entrant
from depthgauge.errors import BadData, BadFile, CannotWrite
from depthgauge.io import write_text
from depthgauge.io._locks import only_one
from depthgauge.io.text import parse_json

SCHEMA = 1
KIND = "depthgauge-run"
_PARTS: dict[str, type] = {
    "benchmark": str,
    "protocol_hash": str,
    "definition": dict,
    "data": str,
    "samples": list,
    "scenes": dict,
    "left_out": list,
    "methods": list,
    "made_by": dict,
    "commands": list,
}
_METHOD_PARTS: dict[str, type] = {
    "label": str,
    "method": str,
    "title": str,
    "options": dict,
    "options_hash": str,
    "keeps": bool,
    "seeds": list,
}


def read_info(folder: Path) -> dict[str, Any]:
    """What `run.json` says."""
    path = folder / "run.json"
    if not path.is_file():
        raise BadData(f"{folder}: is not a run folder (no run.json); make one with 'run'.")
    try:
        body = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(body, dict) or body.get("kind") != KIND:
            raise BadData(f"{path}: is not the run.json of a depthgauge run.")
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: is damaged ({error}); {_ANEW}.") from error
    if body.get("schema") != SCHEMA:
        raise BadFile(f"{path}: schema {body.get('schema')}, this version reads {SCHEMA}.")
    if wrong := [*_wrong_parts(body, _PARTS), *_wrong_methods(body)]:
        raise BadFile(f"{path}: is damaged ({', '.join(wrong)}); {_ANEW}.")
    return body


_ANEW = "put the file back as it was, or begin a new run in another folder"


def _wrong_parts(body: Any, parts: Mapping[str, type]) -> list[str]:
    """Which parts are missing or wrong; people edit these files."""
    if not isinstance(body, dict):
        return ["an entry that is invalid"]
    return [f"'{name}'" for name, kind in parts.items() if not isinstance(body.get(name), kind)]


def _wrong_methods(info: Mapping[str, Any]) -> list[str]:
    found = info.get("methods")
    begun = info.get("unfinished", [])
    if not isinstance(begun, list):
        return ["'unfinished'"]
    each = [*found, *begun] if isinstance(found, list) else []
    if found == [] == begun:
        return ["no methods"]
    return [f"methods: {name}" for body in each for name in _wrong_parts(body, _METHOD_PARTS)]


def require_finished(folder: Path, info: Mapping[str, Any]) -> None:
    """Rejects a run that still lacks items."""
    if (folder / "scores.parquet").is_file():
        return
    begun = [*info["methods"], *info.get("unfinished", ())]
    n = len(info["samples"]) * sum(len(body["seeds"]) for body in begun)
    raise BadData(
        f"{folder}: this run is not finished, {len(finished(folder))} of {n} items are there; "
        "run the command that began it again."
    )


def write_info(folder: Path, info: Mapping[str, Any]) -> None:
    """Replaces `run.json`."""
    write_text(folder / "run.json", json.dumps(info, indent=1, allow_nan=False) + "\n")


def protocol_of(info: Mapping[str, Any], where: Path) -> Protocol:
    """The protocol of a run, as it was; an error where this version would score otherwise."""
    protocol = make_protocol(info["definition"], str(where / "run.json"))
    if protocol.hash != info["protocol_hash"]:
        raise BadData(
            f"{where}: was made under protocol {info['protocol_hash'][:12]}, which this version of "
            f"depthgauge computes it differently ({protocol.hash[:12]}); use 'rescore'."
        )
    return protocol


CONTROL = "control"
"""The method id of controls, which are no methods."""


def control_labels(info: Mapping[str, Any]) -> list[str]:
    """The controls of a run."""
    return [body["label"] for body in info["methods"] if body["method"] == CONTROL]


def entrants_of(info: Mapping[str, Any]) -> tuple[Entrant, ...]:
    """The methods of a run whose items are all in its tables, without controls."""
    return tuple(
        Entrant(
            label=body["label"],
            method=body["method"],
            title=body["title"],
            options=body["options"],
            options_hash=body["options_hash"],
            seeds=tuple(body["seeds"]),
            older=body.get("older") or body.get("older_estimates", {}),
            conditions=body.get("conditions", {}),
        )
        for body in info["methods"]
        if body["method"] != CONTROL
    )


def find_data(info: Mapping[str, Any], given: str | Path | None = None) -> Path:
    """The dataset's folder: the one that is given, else the one that the run used."""
    root = Path(info["data"] if given is None else given).absolute()
    if not root.is_dir():
        what = "the data of this run is no longer there" if given is None else "no such folder"
        raise BadData(f"{root}: {what}; say where it is with --data.")
    return root


def item_path(folder: Path, task_id: str) -> Path:
    """The path of a finished item."""
    return folder / "items" / f"{task_id}.json"


def finished(folder: Path) -> set[str]:
    """The ids of all finished items."""
    with suppress(FileNotFoundError), os.scandir(folder / "items") as found:
        return {entry.name.removesuffix(".json") for entry in found if entry.name.endswith(".json")}
    return set()


@contextmanager
def open_folder(folder: Path) -> Iterator[None]:
    """Creates the folder if needed, and keeps other processes out of it."""
    try:
        (folder / "items").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"{folder}: cannot be written ({error.strerror}); choose another folder."
        ) from error
    busy = f"{folder}: another process is working on this run; wait for it."
    with only_one(folder / "run.lock", busy):
        _remove_parts(folder)
        yield
        _remove_parts(folder)


def _remove_parts(folder: Path) -> None:
    """Half-written files that a killed process left."""
    places = [*folder.glob(".*.part"), *(folder / "items").glob(".*.part")]
    for path in [*places, *(folder / "estimates").rglob(".*.part")]:
        with suppress(OSError):
            path.unlink()
