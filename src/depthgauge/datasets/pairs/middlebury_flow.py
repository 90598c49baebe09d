"""Middlebury optical flow: short sequences with dense truth for the frames 10 and 11."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._submission import Submission, SubmittedFile
from depthgauge.datasets.pairs._layout import (
    id_parts,
    images,
    map_loader,
    new_file,
    official_folder,
    require,
    sample_of,
    write_images,
)
from depthgauge.types import Sample

_FOLDERS = {
    "other": (("other-data", "other-color-twoframes", "other-data-gray"), "other-gt-flow"),
    "test": (("eval-data", "eval-color-twoframes", "eval-data-gray"), "eval-gt-flow"),
}
"""Of each split: folders of pictures, the colour ones first, and that of the truth."""
_FIRST, _SECOND, _TRUTH = "frame10.png", "frame11.png", "flow10.flo"

SPEC = DatasetSpec(
    id="middlebury-flow",
    title="Middlebury optical flow",
    quantities=("flow",),
    splits=(*_FOLDERS, "all"),
    licence="free for research with citation",
    cite="Baker et al., A database and evaluation methodology for optical flow, IJCV 2011",
    homepage="https://vision.middlebury.edu/flow/data/",
    sample_layout="other-data/<Sequence>/frame10.png and frame11.png with "
    "other-gt-flow/<Sequence>/flow10.flo; eval-data/<Sequence>/ for the test, whose truth is not "
    "public",
    estimate_layouts=("{sample}/flow10.flo",),
    submission=Submission(
        files=(SubmittedFile("flow", "{sample}/flow10.flo", "flo"),),
        samples=8,
        archive=True,
        dense=True,
        url="https://vision.middlebury.edu/flow/submit/",
        about="A zip file with <Sequence>/flow10.flo for the eight sequences of eval-data.",
    ),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """The sequences of a split: eight with public truth, and eight of the test.

    Inputs: `first_image` and `second_image`. Truth: `flow`.
    """
    keys = tuple(_FOLDERS) if split == "all" else (split,)
    found = [sample for key in keys for sample in _sequences(root, *_FOLDERS[key])]
    yield from sorted(found, key=lambda sample: sample.id)


def _sequences(root: Path, pictures: tuple[str, ...], truths: str) -> Iterator[Sample]:
    folder = official_folder(SPEC, root, (), (*pictures, truths))
    if folder is None:
        return
    place = next((folder / name for name in pictures if (folder / name).is_dir()), None)
    parents = [p for p in (place, folder / truths) if p is not None and p.is_dir()]
    for name in sorted({p.name for parent in parents for p in parent.iterdir() if p.is_dir()}):
        inputs: dict[str, Any] = {}
        if place is not None:
            frames = {"first_image": place / name / _FIRST, "second_image": place / name / _SECOND}
            inputs = images(frames)
        truth: dict[str, Any] = {}
        if (path := folder / truths / name / _TRUTH).is_file():
            truth["flow"] = map_loader(path, "flow")
        if inputs or truth:
            yield sample_of(name, inputs, truth)


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes sequences in the layout of the public ones with truth."""
    (pictures, *_), truths = _FOLDERS["other"]
    for sample in samples:
        require(sample, "flow")
        (name,) = id_parts(sample.id, 1, "<Sequence>")
        places = {
            "first_image": f"{pictures}/{name}/{_FIRST}",
            "second_image": f"{pictures}/{name}/{_SECOND}",
        }
        write_images(root, sample.inputs, places)
        if sample.truth is not None:
            place = new_file(root, f"{truths}/{name}/{_TRUTH}")
            io.write_map(place, sample.truth.flow, quantity="flow")
