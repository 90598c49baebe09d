"""A finished run, read back from its folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.engine.store.data_record import read_record
from depthgauge.engine.store.parquet import read_outcomes
from depthgauge.engine.store.record import Entrant, Key, Run
from depthgauge.engine.store.run_folder import (
    control_labels,
    entrants_of,
    protocol_of,
    read_info,
    require_finished,
)
from depthgauge.errors import BadData
from depthgauge.types import Note


def load_run(folder: str | Path) -> Run:
    """Reads a run folder.

    Raises:
        BadData: It is not a run, or the run is not finished.
    """
    path = Path(folder)
    info = read_info(path)
    require_finished(path, info)
    protocol = protocol_of(info, path)
    entrants = entrants_of(info)
    outcomes, timings, estimate_hashes = read_outcomes(path, protocol)
    _require_same_items(info, entrants, outcomes, path)
    scenes = {name: info["scenes"].get(name, "") for name in info["samples"]}
    controls = control_labels(info)
    lost = _lost(outcomes, controls)
    results = {}
    curves = {}
    for key, found in outcomes.items():
        ordered = {n: lost.get(n, found[n]) for n in info["samples"] if n in found}
        found_here = gather(protocol, ordered, scenes)
        left_out = (*info["left_out"], *found_here.left_out)
        results[key] = replace(found_here, left_out=left_out, notes=_notes_of(info, key))
        curves[key] = {n: o.curve for n, o in ordered.items() if o.curve is not None}
    hashes = {n: o.truth_hash for found in outcomes.values() for n, o in found.items()}
    scored = {n for found in outcomes.values() for n in found if n not in lost}
    return Run(
        path=path,
        protocol=protocol,
        entrants=entrants,
        results={key: found for key, found in results.items() if key[0] not in controls},
        controls={label: results[label, 0] for label in controls},
        facts=info.get("facts", {}),
        samples=tuple(name for name in info["samples"] if name in scored),
        scenes=scenes,
        truth_hashes=hashes,
        input_hashes=read_record(path).inputs,
        estimate_hashes=estimate_hashes,
        curves={key: found for key, found in curves.items() if key[0] not in controls},
        timings=tuple(timings),
        info=info,
    )


def _lost(
    outcomes: Mapping[Key, Mapping[str, Outcome]], controls: Collection[str]
) -> dict[str, Outcome]:
    """Samples without data that some method needs: left out for all methods."""
    found: dict[str, Outcome] = {}
    for (label, _), by_sample in sorted(outcomes.items()):
        for name, outcome in by_sample.items():
            if outcome.skipped and label not in controls:
                found.setdefault(name, replace(outcome, failed="", scores={}))
    return found


def _notes_of(info: Mapping[str, Any], key: Key) -> tuple[Note, ...]:
    """What a run noted about the estimates of one method and seed."""
    kept = (each for each in info.get("notes", ()) if (each["method"], each["seed"]) == key)
    return tuple(Note.from_json(each["note"]) for each in kept)


def _require_same_items(
    info: Mapping[str, Any],
    entrants: Collection[Entrant],
    outcomes: Mapping[Key, Collection[str]],
    path: Path,
) -> None:
    """Rejects tables that do not match `run.json`."""
    keys = {(entrant.label, seed) for entrant in entrants for seed in entrant.seeds}
    keys |= {(label, 0) for label in control_labels(info)}
    samples = set(info["samples"])
    if keys != set(outcomes) or any(set(found) != samples for found in outcomes.values()):
        raise BadData(
            f"{path}: its tables are not of the methods and samples that its run.json names; "
            "run the command that began it again."
        )
