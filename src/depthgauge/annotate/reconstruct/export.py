"""Exports records and photographs as a dataset in OASIS's layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._options import signature_from
from depthgauge._progress import Progress
from depthgauge.annotate.options import ExportOptions
from depthgauge.annotate.reconstruct.samples import sample_of
from depthgauge.annotate.records.folders import RecordFile, read_all
from depthgauge.annotate.records.votes import accepted, read_votes
from depthgauge.annotate.shown_bytes import shown_bytes
from depthgauge.datasets import oasis
from depthgauge.datasets._test_splits import folder_of_truth, is_test_split, without_truth
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError, Unavailable
from depthgauge.io._locks import only_one
from depthgauge.types import Sample

LOCK = ".export.lock"
SUFFIXES = (".png", ".jpg", ".jpeg", ".JPG", ".PNG", ".ppm", ".tif", ".tiff")


@dataclass(frozen=True, slots=True)
class Export:
    """A split of a dataset that was written."""

    folder: Path
    split: str
    samples: tuple[str, ...]
    """Their ids."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {
            "folder": str(self.folder),
            "split": self.split,
            "samples": list(self.samples),
        }


@signature_from(ExportOptions)
def export_records(
    places: Iterable[Path],
    images: Path,
    out: Path,
    *,
    options: ExportOptions,
    notes: Callable[[str], None],
    progress: Progress | None = None,
) -> Export:
    """Reconstructs annotations and writes them as samples, one per photograph.

    Split `test` gets the photographs only; with their truth they go to `with_truth`.

    Args:
        places: Files or folders of records; for each photograph the first file by name is used.
        images: The folder of the photographs, named as in the records.
        out: The dataset's folder.
        notes: Called with a note about everything left out, assumed or contradictory.
        progress: Called before each file of records.
        options: The fields of `ExportOptions`, as keywords.

    Raises:
        BadData: There is nothing to write, or another export writes there.
        CannotWrite: The split exists already, or the folder cannot be created.
        Misuse: The truth would be written beside published photographs.
    """
    kept = folder_of_truth(out, options.split, options.with_truth)
    if not images.is_dir():
        raise BadData(f"{images}: there is no such folder of photographs.")
    good = None
    if options.votes is not None:
        said, told = read_votes(options.votes)
        for note in told:
            notes(note)
        good = accepted(said)
    chosen = _chosen(read_all(places, notes=notes, progress=progress), good, notes)
    made: list[str] = []
    first = next(chosen, None)
    if first is None:
        raise BadData("there is no annotation to export: none was accepted.")

    def samples() -> Iterator[Sample]:
        for recorded in (first, *chosen):
            sample = _sample(recorded, images, options, notes)
            if sample is not None:
                made.append(sample.id)
                yield sample
        if not made:
            raise BadData(f"{images}: there is no annotation whose photograph can be read.")

    _publish(out, kept, samples(), options)
    return Export(out, options.split, tuple(made))


def _publish(
    out: Path, kept: Path | None, samples: Iterable[Sample], options: ExportOptions
) -> None:
    """Writes a split, or a test split with its truth and then without."""
    if kept is not None:
        _write(kept, samples, options)
        samples = oasis.samples(kept, options.split)
    _write(out, without_truth(samples) if is_test_split(options.split) else samples, options)


def _write(out: Path, samples: Iterable[Sample], options: ExportOptions) -> None:
    _make_folder(out)
    # The whole folder is locked: all splits share the file of relative normals.
    with only_one(out / LOCK, f"{out}: another export is writing there; wait for it to end."):
        oasis.write(out, samples, split=options.split, overwrite=options.overwrite)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"{out}: cannot be created ({error.strerror}); choose another folder."
        ) from None


def find_photograph(images: Path, picture: str) -> Path:
    """The photograph of that name.

    Raises:
        Unavailable: There is none, or its name would lead out of the folder.
    """
    if Path(picture).is_absolute() or ".." in Path(picture).parts:
        raise Unavailable(f"'{picture}' is not a valid name of a photograph in {images}.")
    places = [images / picture, *(images / f"{picture}{suffix}" for suffix in SUFFIXES)]
    for path in places:
        if path.is_file():
            return path
    raise Unavailable(f"{images}: has no photograph '{picture}' (png, jpg, ppm, tif).")


def sample_name(picture: str) -> str:
    """A picture's name as the layout allows it: public code replaces `image` in paths.

    >>> sample_name("holidays/image 7.jpg"), sample_name("beach")
    ('holidays_picture_7', 'beach')
    """
    stem = picture
    for suffix in SUFFIXES:
        stem = stem.removesuffix(suffix)
    return re.sub(r"[/\\,\"\s:]+", "_", stem).replace("image", "picture").lstrip("._") or "picture"


def _chosen(
    every: Iterable[RecordFile], good: frozenset[str] | None, notes: Callable[[str], None]
) -> Iterator[RecordFile]:
    seen: set[str] = set()
    for recorded in every:
        picture = recorded.annotation.picture.id
        name = sample_name(picture)
        if good is not None and f"{recorded.who}/{picture}" not in good:
            notes(f"{recorded.who}/{picture}: left out: not accepted by the votes.")
        elif name in seen:
            notes(f"{recorded.path}: left out: '{name}' was exported from other records.")
        else:
            seen.add(name)
            yield recorded


def _sample(
    recorded: RecordFile, images: Path, options: ExportOptions, notes: Callable[[str], None]
) -> Sample | None:
    picture = recorded.annotation.picture.id
    try:
        image = shown_bytes(io.read_image(find_photograph(images, picture)))
        sample = sample_of(
            recorded.annotation,
            image,
            seed=options.seed,
            published_pairs=options.published_pairs,
        )
        return replace(sample, id=sample_name(picture))
    except DepthgaugeError as error:
        notes(f"{picture}: left out: {error}")
        return None
