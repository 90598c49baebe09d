"""Two or more folders of maps without a benchmark: paired by name, scored as a run."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge._shorten import first_few
from depthgauge.benchmarks import Protocol
from depthgauge.datasets import DATASETS
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.engine.running.run import default_workers, run
from depthgauge.engine.scoring.in_memory.arrays import READING_OPTIONS, other_keys, reading_key
from depthgauge.engine.scoring.in_memory.maps_protocol import maps_protocol
from depthgauge.engine.scoring.readings import note_of_quantity
from depthgauge.engine.store.record import Run
from depthgauge.errors import BadData, DepthgaugeError, Misuse, UnknownScale
from depthgauge.io import guess_quantity, read_map, write_text
from depthgauge.methods import Method, find_method
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS
from depthgauge.types import Sample

_DATASET = "folder"
_DATA = "data"
"""The folder in a run folder whose `depthgauge.toml` says where the truth is."""
_FEW_TASKS = 24
"""Up to this many maps are scored in this process, which is faster than starting workers."""
_MOST_TRIED = 40
"""Names of estimates that a pattern is looked for in."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class Pairing:
    """Which files of a folder of estimates belong to which truth."""

    label: str
    folder: Path
    pattern: str | None
    """Where the file of `{id}` is; None where the dataset's own rules found all of them."""
    files: Mapping[str, Path]
    """By sample id, the estimates that have a truth."""
    without_estimate: tuple[str, ...]
    """Truths, by sample id."""
    without_truth: tuple[str, ...]
    """Estimates that no truth has the name of."""

    def __str__(self) -> str:
        how = f" as {self.pattern}" if self.pattern else ""
        whole = len(self.files) + len(self.without_estimate)
        said = [f"{self.label}: {len(self.files)} of {whole} true maps have an estimate{how}"]
        if self.without_estimate:
            said.append(f"without one: {first_few(self.without_estimate, _MOST_NAMED)}")
        if self.without_truth:
            said.append(f"without a truth: {first_few(self.without_truth, _MOST_NAMED)}")
        return "; ".join(said) + "."


@dataclass(frozen=True)
class FolderScores:
    """The scores of folders, and what was compared with what."""

    run: Run
    pairings: tuple[Pairing, ...]
    """One for each folder of estimates."""


def score_folders(
    truth: str | Path,
    estimates: str | Path | Mapping[str, str | Path],
    metrics: str | Iterable[str] = (),
    *,
    pattern: str | None = None,
    truth_pattern: str | None = None,
    quantity: str | None = None,
    regions: Mapping[str, str] | None = None,
    images: Mapping[str, str | Path] | None = None,
    only: Iterable[str] = (),
    out: str | Path | None = None,
    protocol: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **keys: Any,
) -> FolderScores:
    """Scores folders of estimates against a folder of truth; files belong together by name.

    Args:
        truth: The folder of true maps; one with a `depthgauge.toml` or a folder `truth` is read as
            the dataset `folder`.
        estimates: A folder, or several by the name of the method.
        metrics: As in `score`.
        pattern: The names of estimates, `{id}_disp.npy`; by default found by comparing names.
        truth_pattern: The names of true maps, `{id}_gt.png`.
        quantity: What the maps contain; by default guessed from the first truth.
        regions: Expressions by name, beside `all`.
        images: Folders of pictures by `left`, `right` ..., for regions that are found in them; a
            picture has the name of its truth.
        only: Ids of the samples; if empty, all that have an estimate.
        out: Where the run is kept, for `report` and `compare`; nowhere by default.
        protocol: Other keys of a benchmark, as in `score`: `{"truth_scale": 0.5}`.
        progress: Called after each map.
        keys: `scale`, `invalid` and the like as in `score`; others of a protocol: `missing`,
            `align`, `crop`, `estimate_resize`, `pool` ...

    Returns:
        The run, and what was paired. A sample is scored if at least one folder has an estimate of
        it; one that another folder lacks counts there as an estimate without a single pixel.

    Raises:
        BadData: No names match; some of both sides are named.
    """
    root = Path(truth).absolute()
    given = _labelled(estimates)
    pictures = {name: Path(folder).absolute() for name, folder in (images or {}).items()}
    for folder in (root, *given.values(), *pictures.values()):
        if not folder.is_dir():
            raise BadData(f"{folder}: there is no such folder.")
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as temporary:
        place = Path(temporary)
        said = quantity is not None
        quantity = quantity or _guessed(place / _DATA, root, truth_pattern)
        named = [metrics] if isinstance(metrics, str) else metrics
        said_of_files = {name: keys.pop(name) for name in READING_OPTIONS & keys.keys()}
        body = {
            "id": "two-folders",
            "dataset": _DATASET,
            **keys,
            **reading_key(said_of_files),
            **other_keys(protocol),
        }
        asked = dict(regions or {})
        own = [name for name, text in asked.items() if name == text and name in REGIONS]
        texts = {name: text for name, text in asked.items() if name not in own}
        made = maps_protocol(named, quantity, named=texts, own=own, **body)
        samples = _truths(place / _DATA, root, truth_pattern, quantity)
        ids = [sample.id for sample in samples]
        pairings = tuple(
            pair(label, folder, ids, quantity, pattern) for label, folder in given.items()
        )
        kept = place / "run" if out is None else Path(out).absolute()
        _write_data(kept / _DATA, root, truth_pattern, quantity, pictures)
        _ask_for_scales(made, samples[0], pairings)
        chosen = list(only) or [i for i in ids if any(i in each.files for each in pairings)]
        few = len(chosen) * len(given) <= _FEW_TASKS
        done = run(
            made,
            kept / _DATA,
            [_method(each) for each in pairings],
            kept,
            workers=0 if few else default_workers(),
            only=chosen,
            progress=progress,
        )
        return FolderScores(done if said else _with_note(done, samples[0]), pairings)


def _ask_for_scales(protocol: Protocol, sample: Sample, pairings: Iterable[Pairing]) -> None:
    """Refuses whole numbers whose unit nobody says, before anything is scored.

    Raises:
        UnknownScale: Of the first truth or the first estimate of a folder.
    """
    main, reading = QUANTITIES[protocol.quantity].main.name, protocol.reading
    looks: list[tuple[str, Callable[[], Any]]] = []
    if reading.truth.scale is None and sample.truth is not None:
        looks.append(("truth", partial(sample.truth.__getitem__, main)))
    if reading.estimate.scale is None:
        files = (next(iter(each.files.values())) for each in pairings)
        looks += [("estimate", partial(read_map, file, protocol.quantity)) for file in files]
    for side, read in looks:
        try:
            read()
        except UnknownScale as error:
            raise error.said_as(f"{side}_scale={{factor}}") from None
        except DepthgaugeError:
            continue  # the run goes on without it, and says so


def _with_note(done: Run, sample: Sample) -> Run:
    """The run with a note where nobody said the quantity and the first truth looks like depth."""
    declared = QUANTITIES[done.protocol.quantity]
    if declared.space != "disparity" or sample.truth is None:
        return done
    found = note_of_quantity(sample.truth[declared.main.name])
    notes = tuple(replace(note, sample=sample.id) for note in found)
    results = {
        key: replace(result, notes=(*notes, *result.notes)) for key, result in done.results.items()
    }
    return replace(done, results=results)


def _labelled(estimates: str | Path | Mapping[str, str | Path]) -> dict[str, Path]:
    if isinstance(estimates, Mapping):
        return {label: Path(folder).absolute() for label, folder in estimates.items()}
    folder = Path(estimates).absolute()
    return {folder.name: folder}


def _write_data(
    folder: Path,
    root: Path,
    pattern: str | None,
    quantity: str | None,
    images: Mapping[str, Path] | None = None,
) -> Path:
    """A dataset folder that says where truth and pictures are, and nothing else."""
    lines = {"root": str(root), "truth": pattern, "quantity": quantity}
    lines |= {f"folders.{name}": str(place) for name, place in (images or {}).items()}
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{key} = {_quoted(value)}\n" for key, value in lines.items() if value)
    write_text(folder / "depthgauge.toml", text)
    return folder


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _guessed(data: Path, root: Path, pattern: str | None) -> str:
    """What the true maps contain, judged by the first of them, unless their folder says it."""
    items: Mapping[str, Any] = _truths(data, root, pattern, None)[0].truth or {}
    named = next(name for name in items if name in QUANTITIES)
    return guess_quantity(items[f"{named}_path"]) if named == "disparity" else named


def _truths(data: Path, root: Path, pattern: str | None, quantity: str | None) -> list[Sample]:
    """The samples of the folder of truth; at least one."""
    if not any(_is_map(path) for path in root.rglob("*")):
        raise BadData(f"{root}: there is no map in it ({', '.join(SUFFIXES)}).")
    _write_data(data, root, pattern, quantity)
    found = [s for s in DATASETS[_DATASET].samples(data) if s.truth is not None]
    if not found:
        raise BadData(f"{root}: has pictures but no true map; name the folder of the true maps.")
    return found


def _is_map(path: Path) -> bool:
    return path.suffix.lower()[1:] in SUFFIXES and path.is_file() and path.name[0] != "."


def _method(pairing: Pairing) -> Method:
    method = find_method(f"folder:{pairing.folder}", pairing.label)
    settings = {**method.described(), "pattern": pairing.pattern}
    return replace(method, options=method.spec.options.model_validate(settings))


# Pairs of files: by a pattern that is given, or that the names suggest.


def pair(
    label: str, folder: Path, samples: Sequence[str], quantity: str, pattern: str | None = None
) -> Pairing:
    """The estimates of a folder that belong to some samples.

    Args:
        label: What the folder is called.
        folder: Of estimates.
        samples: Ids.
        quantity: The name of files in a folder per sample, `<id>/disparity.npy`.
        pattern: The names of the files, with `{id}`; an ending that is left out may be any.

    Raises:
        Misuse: The pattern has no `{id}`.
        BadData: Nothing belongs together.
    """
    files = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if _is_map(path)
    )
    if pattern is not None and ("{id}" not in pattern or ".." in pattern.split("/")):
        raise Misuse(f"the pattern '{pattern}' must have {{id}} in it, such as '{{id}}_disp.npy'.")
    known = set(samples)
    tried = [pattern] if pattern else ["{id}", f"{{id}}/{quantity}", *_suggested(files, samples)]
    whole = next(filter(None, (_matched(files, known, each) for each in tried)), None)
    if whole is None:
        raise _nothing_pairs(folder, files, samples, pattern)
    used, found = whole
    return Pairing(
        label,
        folder,
        used,
        {sample: folder / file for sample, file in found.items()},
        tuple(sample for sample in samples if sample not in found),
        tuple(file for file in files if file not in set(found.values())),
    )


def _matched(
    files: Sequence[str], known: set[str], pattern: str
) -> tuple[str, dict[str, str]] | None:
    """The files of each sample, and the pattern with its ending; None if there are none."""
    endings = (
        [""] if pattern.rpartition(".")[2].lower() in SUFFIXES else [f".{s}" for s in SUFFIXES]
    )
    best: tuple[str, dict[str, str]] | None = None
    for ending in endings:
        whole = f"{pattern}{ending}"
        first, *rest = (re.escape(part) for part in whole.split("{id}"))
        expression = re.compile(first + "(?P<id>.+)" + "(?P=id)".join(rest))
        fits = ((expression.fullmatch(file), file) for file in files)
        found = {fit["id"]: file for fit, file in fits if fit and fit["id"] in known}
        if found and (best is None or len(found) > len(best[1])):
            best = whole, found
    return best


def _suggested(files: Sequence[str], samples: Sequence[str]) -> list[str]:
    """What most names of estimates have around the name of a truth; the most frequent first."""
    around: Counter[str] = Counter()
    longest_first = sorted(samples, key=len, reverse=True)
    for file in files[:_MOST_TRIED]:
        stem = file.rpartition(".")[0]
        sample = next((s for s in longest_first if s in stem), None)
        if sample is not None:
            around["{id}".join(stem.split(sample, 1))] += 1
    return [name for name, _ in around.most_common()]


def _nothing_pairs(
    folder: Path, files: Sequence[str], samples: Sequence[str], pattern: str | None
) -> BadData:
    if not files:
        return BadData(f"{folder}: there is no map in it ({', '.join(SUFFIXES)}).")
    return BadData(
        f"{folder}: no name matches a truth{f' by {pattern}' if pattern else ''}; it has "
        f"{first_few(files, _MOST_NAMED)}, the truth has {first_few(list(samples), _MOST_NAMED)}; "
        "say what both have in common: --pattern '{id}_disp.npy' for estimates, "
        "--truth-pattern '{id}_gt.png' for the truth."
    )
