"""The stored estimates of a run as a public server wants them: names, formats, archive, limits."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._registry import unknown
from depthgauge._shorten import first_few
from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.datasets._paths import inside
from depthgauge.datasets._submission import Submission, SubmittedFile
from depthgauge.engine.store.estimates import Place, read_stored
from depthgauge.engine.store.record import Entrant
from depthgauge.engine.store.run_folder import entrants_of, read_info
from depthgauge.engine.store.submitted_estimates import Finder
from depthgauge.errors import BadData, CannotWrite, Misuse, Unavailable
from depthgauge.io import write_map, write_text
from depthgauge.quantities import QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Map, is_known

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_BLOCK = 1 << 20
_MOST_NAMES = 5
_ENDINGS = (".png", ".pfm", ".flo", ".dsp5", ".flo5", ".txt")
"""Of the files that a submission consists of: only those are replaced."""
_STEP = {"png": 1 / 256, "flow-png": 1 / 64}
"""What codes count in, in px."""
_LIMITS = {"png": (1 / 256, 65535 / 256), "flow-png": (-512.0, 32767 / 64)}


@dataclass(frozen=True)
class WrittenSubmission:
    """What was written, and what the server may object to."""

    folder: Path
    method: str
    samples: tuple[str, ...]
    files: int
    archive: Path | None
    about: str
    url: str
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "folder": str(self.folder),
            "method": self.method,
            "samples": list(self.samples),
            "files": self.files,
            "archive": None if self.archive is None else str(self.archive),
            "about": self.about,
            "url": self.url,
            "warnings": list(self.warnings),
        }


@dataclass
class _Notes:
    """What is counted while files are written."""

    clipped: dict[str, int] = field(default_factory=dict)
    holes: dict[str, int] = field(default_factory=dict)
    untimed: list[str] = field(default_factory=list)


def write_submission(
    benchmark: str | Path,
    run: str | Path,
    method: str,
    out: str | Path,
    *,
    seed: int = 0,
    archive: bool = True,
    overwrite: bool = False,
) -> WrittenSubmission:
    """Writes the estimates of one method as the server of a benchmark's dataset wants them.

    Args:
        benchmark: Its id or TOML file; its dataset says what the server wants.
        run: The run folder, with stored estimates; of `folder:results` those of that folder.
        method: The method's label in the run.
        out: A new or empty folder.
        overwrite: Whether the maps of an earlier submission in that folder are replaced.
        seed: Which seed of the method.
        archive: Whether to pack the zip file too, beside the folder, if the server takes one.

    Raises:
        Unavailable: The dataset has no public server.
        BadData: The run has other data, no stored estimate, or holes that the server refuses.
    """
    protocol = find_benchmark(benchmark)
    rules = DATASETS[protocol.dataset].spec.submission
    if rules is None:
        raise Unavailable(f"{protocol.id}: no public server of '{protocol.dataset}' is known.")
    source = Path(run).absolute()
    info = read_info(source)
    if info["definition"]["dataset"] != protocol.dataset:
        raise BadData(
            f"{run}: is a run on '{info['definition']['dataset']}', {protocol.id} is on "
            f"'{protocol.dataset}'."
        )
    entrant = _entrant(info, method, seed)
    quantity = str(info["definition"]["quantity"])
    files = rules.files_of(part.name for part in QUANTITIES[quantity].parts if part.required)
    if not files:
        raise Unavailable(f"{protocol.id}: its server takes no {quantity}.")
    estimates = _Estimates(info, entrant, seed, source)
    folder = _new_folder(Path(out), overwrite)
    notes = _Notes()
    samples = tuple(info["samples"])
    _refuse_holes(rules, {name: partial(estimates.read, name) for name in samples})
    for name in samples:
        estimate, time_s = estimates.read(name)
        for file in files:
            _write(folder, name, file, _map_of(estimate, file, name), notes)
        if rules.runtime:
            _write_time(folder, rules.runtime.replace("{sample}", name), time_s, notes)
    packed = None
    if archive and rules.archive:
        packed = folder.with_name(f"{folder.name}.zip")
        pack_files(folder, packed, sorted(p for p in folder.rglob("*") if p.is_file()))
    return WrittenSubmission(
        folder,
        method,
        samples,
        sum(1 for path in folder.rglob("*") if path.is_file()),
        packed,
        rules.about,
        rules.url,
        tuple(_warnings(rules, samples, notes)),
    )


class _Estimates:
    """The estimates of one method of a run: stored there, or the folder that was scored."""

    def __init__(self, info: Mapping[str, Any], entrant: Entrant, seed: int, run: Path) -> None:
        self._quantity = str(info["definition"]["quantity"])
        self._root = Path(info.get("estimates") or run / "estimates")
        self._entrant, self._seed = entrant, seed
        body = next(body for body in info["methods"] if body["label"] == entrant.label)
        self._options: Mapping[str, Any] = {} if body["kept"] else body["options"]
        self._protocol = make_protocol(info["definition"], str(run / "run.json"))
        if not body["kept"] and body["method"] != "folder":
            raise BadData(
                f"{run}: did not keep the estimates of '{entrant.label}'; run the method again "
                "without --drop-estimates."
            )

    def read(self, sample: str) -> tuple[Estimate, float]:
        """The estimate of a sample, and how long it took; NaN if nobody knows.

        Raises:
            BadData: There is none, or it is a clip.
        """
        if self._options:
            found, time_s = self._from_folder(sample)
        else:
            place = Place(self._root, self._entrant.label, self._seed, sample)
            hashes = (self._entrant.options_hash, *self._entrant.older.values())
            stored = read_stored(place, self._quantity, *hashes)
            found, time_s = stored.estimate, stored.usage.time_s
        if not isinstance(found, Estimate):
            raise BadData(f"{sample}: is a clip, which no public server here takes.")
        return found, time_s

    def _from_folder(self, sample: str) -> tuple[Estimate | ClipEstimate, float]:
        said = self._protocol.reading.estimate.reading
        finder = Finder(DATASETS[self._protocol.dataset], sample, self._quantity, None, said)
        name, pattern = self._options["name"], self._options["pattern"]
        found = finder.read(Path(self._options["path"]), name, pattern)
        usage = found.extras.get("usage")
        return found, math.nan if usage is None else usage.time_s


def _entrant(info: Mapping[str, Any], label: str, seed: int) -> Entrant:
    known = {entrant.label: entrant for entrant in entrants_of(info)}
    if label not in known:
        raise unknown("method in this run", label, known)
    found = known[label]
    if seed not in found.seeds:
        raise Misuse(f"'{label}' has no seed {seed}; it has {', '.join(map(str, found.seeds))}.")
    return found


def _new_folder(out: Path, overwrite: bool) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
        found = sorted(path for path in out.rglob("*") if not path.is_dir())
        strange = [path for path in found if path.suffix not in _ENDINGS]
        if found and (strange or not overwrite):
            hint = "give a new folder" if strange else "give a new folder, or --overwrite"
            raise Misuse(f"{out}: is not empty ({(strange or found)[0].name}); {hint}.")
        for path in found:
            path.unlink()
    except OSError as error:
        raise CannotWrite(f"{out}: cannot be made ({error.strerror}).") from error
    return out.absolute()


def _map_of(estimate: Estimate, file: SubmittedFile, sample: str) -> Map:
    main = QUANTITIES[estimate.quantity].main.name
    parts = {main: estimate.values, **estimate.parts}
    if file.part not in parts:
        raise BadData(f"{sample}: its estimate has no {file.part}, which the server wants.")
    values: Map = parts[file.part]
    return values


def _refuse_holes(
    rules: Submission, estimates: Mapping[str, Callable[[], tuple[Estimate, float]]]
) -> None:
    """Names every sample with missing pixels, if the server takes none."""
    if not rules.dense:
        return
    holes = []
    for name, read in estimates.items():
        found, _ = read()
        maps = [found.values, *(v for v in found.parts.values() if isinstance(v, np.ndarray))]
        if not all(is_known(values).all() for values in maps):
            holes.append(name)
    if holes:
        raise BadData(
            f"{len(holes)} of {len(estimates)} estimates have missing pixels, which the server "
            f"refuses ({first_few(holes, _MOST_NAMES)}); fill them in the method."
        )


def _write(folder: Path, name: str, file: SubmittedFile, values: Map, notes: _Notes) -> None:
    path = inside(folder, file.place(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    missing = int((~is_known(values)).sum())
    if missing:
        notes.holes[name] = notes.holes.get(name, 0) + missing
    if file.format in _LIMITS:
        low, high = _LIMITS[file.format]
        inside_limits = np.clip(values, np.float32(low), np.float32(high))
        moved = np.abs(inside_limits - values) > _STEP[file.format] / 2
        if moved.any():
            notes.clipped[name] = notes.clipped.get(name, 0) + int(moved.sum())
        values = inside_limits
    kind = QUANTITIES["image_scene_flow"].part(file.part).like
    write_map(path, values, quantity=kind)


def _write_time(folder: Path, place: str, seconds: float, notes: _Notes) -> None:
    path = inside(folder, place)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not math.isfinite(seconds):
        notes.untimed.append(path.stem)
        return
    write_text(path, f"runtime {seconds:.6g}\n")


def _warnings(rules: Submission, samples: tuple[str, ...], notes: _Notes) -> Iterator[str]:
    if rules.samples is not None and len(samples) != rules.samples:
        yield f"the server wants {rules.samples} samples, the run has {len(samples)}"
    if notes.clipped:
        names = first_few(sorted(notes.clipped), _MOST_NAMES)
        n = sum(notes.clipped.values())
        yield f"{n} values were outside the format's range and were clipped ({names})"
    if notes.holes:
        names = first_few(sorted(notes.holes), _MOST_NAMES)
        yield f"{sum(notes.holes.values())} pixels have no estimate ({names})"
    if notes.untimed:
        names = first_few(sorted(notes.untimed), _MOST_NAMES)
        yield f"the time of {len(notes.untimed)} samples is unknown ({names}); write their .txt"


def pack_files(folder: Path, archive: Path, files: Iterable[Path]) -> None:
    """Packs files of a folder; the same files always give the same bytes.

    Args:
        folder: Its content is at the root of the archive.
        archive: The zip file.
        files: Those that are packed, in this order.

    Raises:
        CannotWrite: There is no room for the archive.
    """
    try:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
            for path in files:
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                with open(path, "rb") as source, made.open(entry, "w", force_zip64=True) as packed:
                    while block := source.read(_BLOCK):
                        packed.write(block)
    except OSError as error:
        raise CannotWrite(f"{archive}: cannot be written ({error.strerror}).") from error
