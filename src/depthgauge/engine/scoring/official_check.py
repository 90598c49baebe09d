"""Whether a folder is what a public server wants: its level, its files, their headers and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from depthgauge._shorten import first_few
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.twins import Fault
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.datasets._submission import SubmittedFile, SubmittedFormat
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.io import map_size, stored_dtype
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Sample

WHOLE = "submission"
"""Stands for the sample in faults of the whole folder."""
_MOST_NAMES = 5
_PICTURES = ("left_image", "first_image", "reference_image")


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the header of a file says."""

    bits: int
    channels: int
    words: str


_FORMATS: Mapping[SubmittedFormat, _Kind] = {
    "png": _Kind(16, 1, "a PNG with one channel of 16 bits"),
    "flow-png": _Kind(16, 3, "a PNG with three channels of 16 bits"),
    "pfm": _Kind(32, 1, "a PFM with one channel (Pf)"),
    "flo": _Kind(32, 2, "a .flo file"),
    "dsp5": _Kind(0, 1, "an HDF5 file with one channel"),
    "flo5": _Kind(0, 2, "an HDF5 file with two channels"),
}


@dataclass(frozen=True, slots=True)
class OfficialCheck:
    """What was found, and where the submission really begins."""

    root: Path
    faults: tuple[Fault, ...]
    faulty: frozenset[str]
    """Samples whose files need not be looked at again."""


def check_official(
    protocol: Protocol, root: Path, samples: Mapping[str, Sample]
) -> OfficialCheck | None:
    """All faults of a folder in the public layout of its dataset.

    Args:
        protocol: The benchmark; its quantity says which maps are wanted.
        root: The folder.
        samples: By id; empty where the data is not at hand.

    Returns:
        None if the dataset has no public server, or the folder is in another layout.
    """
    dataset = DATASETS[protocol.dataset]
    if dataset.spec.submission is None:
        return None
    required = [part.name for part in QUANTITIES[protocol.quantity].parts if part.required]
    files = dataset.spec.submission.files_of(required)
    if _is_ours(protocol, root, samples):
        return None
    levels = _levels(root, files, samples)
    if not levels:
        return None
    found = levels[0]
    if found.parent == root and len(levels) > 1:
        return OfficialCheck(root, (_several(root, levels),), frozenset(samples))
    ids = list(samples) or sorted(_ids(found, files))
    faults = []
    if found != root:
        faults = [_wrong_level(root, found, serious=not _is_scored(protocol, root, ids))]
    missing: dict[str, list[str]] = {}
    faulty: set[str] = set()
    for sample_id in ids:
        for file in files:
            path = found / file.place(sample_id)
            if not path.is_file():
                missing.setdefault(_folder(file, sample_id), []).append(sample_id)
                faulty.add(sample_id)
                continue
            wrong = list(_file_faults(sample_id, path, found, file, samples.get(sample_id)))
            faults += wrong
            faulty |= {sample_id} if wrong else set()
    faults += _missing_faults(missing, len(ids), len(files))
    return OfficialCheck(found, tuple(faults), frozenset(faulty))


def _levels(root: Path, files: Iterable[SubmittedFile], samples: Iterable[str]) -> list[Path]:
    """The folders in which official files begin: `root`, those below it, or the one above."""
    listed, ids = tuple(files), list(samples)
    if _has_files(root, listed, ids):
        return [root]
    places = sorted(p for p in root.iterdir() if p.is_dir())
    first = ids[0] if ids else "*"
    if root.resolve().name in {file.place(first).split("/")[0] for file in _nested(listed)}:
        places.append(root.resolve().parent)
    return [folder for folder in places if _has_files(folder, listed, ids)]


def _nested(files: Iterable[SubmittedFile]) -> list[SubmittedFile]:
    """Those that are in a folder of their own, whatever the sample."""
    return [file for file in files if not callable(file.path) and "/" in file.path]


def _has_files(folder: Path, files: tuple[SubmittedFile, ...], ids: list[str]) -> bool:
    if ids:
        return any((folder / file.place(name)).is_file() for name in ids for file in files)
    # Without the data, a frame directly in the folder could be anything.
    return any(True for file in _nested(files) for _ in folder.glob(file.place("*")))


def _ids(folder: Path, files: Iterable[SubmittedFile]) -> set[str]:
    return {
        path.stem
        for file in files
        if not callable(file.path)
        for path in folder.glob(file.place("*"))
    }


def _is_ours(protocol: Protocol, root: Path, ids: Iterable[str]) -> bool:
    """Whether the first estimate that is there is in a layout of ours."""
    for name in ids:
        try:
            path = find_estimate(root, DATASETS[protocol.dataset], name, protocol.quantity)
        except BadData:
            return False
        if path is not None:
            return path.suffix == ".npy"
    return False


def _is_scored(protocol: Protocol, root: Path, ids: Iterable[str]) -> bool:
    """Whether `score` finds something there all the same."""
    dataset = DATASETS[protocol.dataset]
    try:
        return any(find_estimate(root, dataset, name, protocol.quantity) for name in ids)
    except BadData:
        return False


def _wrong_level(root: Path, found: Path, *, serious: bool) -> Fault:
    if found.resolve() == root.resolve().parent:
        problem = f"{root} is one of the folders of a submission, not the submission."
    else:
        problem = f"the submission begins one level further down, in {found.name}/."
    advice = f"Give {found} (an archive needs its files at this level)."
    return Fault(WHOLE, problem, advice, serious)


def _several(root: Path, found: list[Path]) -> Fault:
    names = first_few([folder.name for folder in found], _MOST_NAMES)
    problem = f"{root} holds {len(found)} submissions: {names}."
    return Fault(WHOLE, problem, f"Give one of them, such as {found[0]}.", True)


def _folder(file: SubmittedFile, sample_id: str) -> str:
    place = file.place(sample_id)
    return place.rpartition("/")[0] if "{sample}" in str(file.path) else file.part


def _missing_faults(missing: Mapping[str, list[str]], total: int, files: int) -> Iterator[Fault]:
    for folder, names in missing.items():
        where = f"{folder}/" if folder else "the folder"
        if len(names) == total and files > 1:
            yield Fault(
                WHOLE,
                f"{where} has no frames.",
                "Without it, what needs it is not scored.",
                serious=False,
            )
            continue
        shown = first_few(sorted(names), _MOST_NAMES)
        problem = f"{where} lacks {len(names)} of {total} frames: {shown}."
        yield Fault(WHOLE, problem, "Write them; the public server wants all.")


def _file_faults(
    sample_id: str, path: Path, root: Path, file: SubmittedFile, sample: Sample | None
) -> Iterator[Fault]:
    name, wanted = path.relative_to(root).as_posix(), _FORMATS[file.format]
    try:
        height, width, channels = map_size(path)
        bits = 8 * stored_dtype(path).itemsize
    except DepthgaugeError as error:
        said = str(error).removeprefix(f"{path}: ").rstrip(".")
        yield Fault(sample_id, f"{name}: {said}.", f"Write {wanted.words}.")
        return
    if channels != wanted.channels or wanted.bits not in (0, bits):
        colour = {1: "one channel", 3: "three channels (RGB)"}.get(channels, f"{channels} channels")
        problem = f"{name} has {colour} of {bits} bits."
        yield Fault(sample_id, problem, f"The server wants {wanted.words}.")
    size = None if sample is None else _picture_size(sample)
    if size is not None and size != (height, width):
        problem = f"{name} is {width}x{height}, the picture is {size[1]}x{size[0]}."
        yield Fault(sample_id, problem, "Write the map at the size of the picture.")


def _picture_size(sample: Sample) -> tuple[int, int] | None:
    for name in _PICTURES:
        if name in sample.inputs:
            height, width = sample.inputs[name].shape[:2]
            return int(height), int(width)
    for name in ("disparity", "flow"):
        if sample.truth is not None and name in sample.truth:
            height, width = sample.truth[name].shape[:2]
            return int(height), int(width)
    return None
