"""A finished run, read back from its folder."""

from __future__ import annotations

from pathlib import Path

from depthgauge.engine.evaluate import gather
from depthgauge.engine.parquet import read_outcomes
from depthgauge.engine.record import Run
from depthgauge.engine.run_folder import entrants_of, finished, protocol_of, read_info
from depthgauge.errors import BadData


def load_run(folder: str | Path) -> Run:
    """Reads a run folder.

    Raises:
        BadData: It is no run, or the run is not finished.
    """
    path = Path(folder)
    info = read_info(path)
    protocol = protocol_of(info, path)
    entrants = entrants_of(info)
    if not (path / "scores.parquet").is_file():
        n = len(info["samples"]) * sum(len(entrant.seeds) for entrant in entrants)
        raise BadData(
            f"{path}: this run is not finished, {len(finished(path))} of {n} items are there; "
            "run the command that began it again."
        )
    outcomes, timings = read_outcomes(path, protocol)
    scenes = {name: info["scenes"].get(name, "") for name in info["samples"]}
    results = {}
    curves = {}
    for key, found in outcomes.items():
        ordered = {name: found[name] for name in info["samples"] if name in found}
        results[key] = gather(protocol, ordered, scenes)
        curves[key] = {n: o.curve for n, o in ordered.items() if o.curve is not None}
    hashes = {n: o.truth_hash for found in outcomes.values() for n, o in found.items()}
    scored = {n for found in outcomes.values() for n, o in found.items() if not o.skipped}
    return Run(
        path=path,
        protocol=protocol,
        entrants=entrants,
        results=results,
        samples=tuple(name for name in info["samples"] if name in scored),
        scenes=scenes,
        truth_hashes=hashes,
        curves=curves,
        timings=tuple(timings),
        info=info,
    )
