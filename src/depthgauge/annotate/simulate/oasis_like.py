"""A dataset like OASIS, annotated by simulated people, with the exact geometry beside it.

    OUT/OASIS_val.csv, OASIS_trainval/ ...      the dataset, made from a careful annotator's records
    OUT/truth-records/<id>.jsonl                those records
    OUT/records/<person>/<id>.jsonl             the same pictures annotated by others
    OUT/humans/<person>/{depth,normals,...}     estimates made from these records
    OUT/sensor/{depth,normals}/<id>.npy         exact depth in metres and normals, our axes
    OUT/oasis-like.json                         how the set was made

The truth of OASIS comes from people, and so does this one. Its distance from the exact geometry can
be measured, because that is there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.annotate.quality.studies import SENSOR
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction, reconstruct
from depthgauge.annotate.reconstruct.samples import boundaries_of, plane_numbers, sample_of
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.records.files import write_records
from depthgauge.annotate.records.folders import RECORDS, SUFFIX
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.noise import CAREFUL, HUMAN, AnnotatorNoise
from depthgauge.datasets import DATASETS, oasis
from depthgauge.errors import CannotWrite, Misuse
from depthgauge.io.text import read_json
from depthgauge.synth.sets.single_views import KINDS, ExactView, make_view
from depthgauge.synth.sets.single_views import REVISION as VIEWS_REVISION
from depthgauge.types import Estimate, Map, Sample, Truth

DATASET_ID = "oasis-like"
REVISION = 4
"""Incremented whenever the same options may give other bytes."""
_PROGRAM = "depthgauge.annotate.oasis_like"
"""As written in every file since the first revision, even if this module is renamed."""
HUMANS, TRUTH_RECORDS, ABOUT = "humans", "truth-records", "oasis-like.json"
_OWN = (RECORDS, TRUTH_RECORDS, HUMANS, SENSOR)
"""Folders beside the dataset itself."""
TRUTH = replace(CAREFUL, region="polygon")
"""Noise of the annotator whose records are the truth."""
SCENES, SIZE_PX, ANNOTATORS = 50, (320, 240), 8
_LAST = {"oasis": "OASIS_val.csv", "depthgauge": "dataset.json"}
"""The file that each layout writes last."""
_SEED_STEP = 1000
"""Distance between the scene seeds of two dataset seeds."""


@dataclass(frozen=True, slots=True)
class OasisLike:
    """What to make."""

    scenes: int = SCENES
    size_px: tuple[int, int] = SIZE_PX
    seed: int = 0
    annotators: int = ANNOTATORS
    layout: str = "oasis"
    """`oasis`, or `depthgauge` for our own dataset folder."""
    truth_noise: AnnotatorNoise = TRUTH
    human_noise: AnnotatorNoise = HUMAN


def write_oasis_like(
    root: Path,
    options: OasisLike | None = None,
    *,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Makes the dataset; an interrupted one is continued, a finished one is left as it is.

    Args:
        root: The folder; it is created if there is none.
        options: How many scenes and people, their size and seed.
        progress: Called before each scene.
        overwrite: Replace a set with other options.

    Returns:
        The ids of the samples.

    Raises:
        Misuse: The options are impossible.
        CannotWrite: The folder holds a set with other options, or another dataset.
    """
    wanted = options or OasisLike()
    _require(wanted)
    root = Path(root)
    if _begin(root, wanted, overwrite):
        _write(root, wanted, progress, overwrite)
    return tuple("{}-{:04d}".format(*_scene(wanted, n)) for n in range(wanted.scenes))


def _write(root: Path, wanted: OasisLike, progress: Progress | None, overwrite: bool) -> None:
    def samples() -> Iterator[Sample]:
        for number in range(wanted.scenes):
            view = scene_view(wanted, number)
            if progress is not None:
                progress(view.id, number, wanted.scenes)
            _write_exact(root, view)
            _write_humans(root, view, wanted)
            yield _truth_sample(root, view, wanted)

    if wanted.layout == "oasis":
        oasis.write(root, samples(), split="val", overwrite=overwrite)
    else:
        DATASETS["depthgauge"].write(
            root,
            samples(),
            id=DATASET_ID,
            title="Single pictures annotated by simulated people",
            licence="CC0-1.0",
            split="val",
            made_by=_about(wanted),
            overwrite=overwrite,
        )


def scene_view(options: OasisLike, number: int) -> ExactView:
    """The exact view of one scene; the kinds alternate."""
    return make_view(*_scene(options, number), options.size_px)


def _scene(options: OasisLike, number: int) -> tuple[str, int]:
    return _scene_of(options.seed, number)


def _scene_of(seed: int, number: int) -> tuple[str, int]:
    return KINDS[number % len(KINDS)], _SEED_STEP * seed + number


def estimates_of(made: Reconstruction) -> list[Estimate]:
    """Depth, normals, boundaries and planes of a reconstruction, as a method would give them."""
    lines = boundaries_of(made.segmentation)
    boundary = np.where(np.isnan(lines[..., 0]), np.nan, lines.max(axis=2))
    kinds = np.stack([boundary, lines[..., 0]], axis=2).astype(np.float32)
    return [
        Estimate(made.depth, "depth", {"focal_px": made.camera.focal_px[0]}),
        Estimate(made.normals, "normals"),
        Estimate(kinds, "boundaries"),
        Estimate(_plane_stack(plane_numbers(made.segmentation)), "planes"),
    ]


def _plane_stack(planes: Map) -> Map:
    """One channel per plane, all with the same confidence: people do not state a confidence."""
    numbers = np.unique(planes[np.isfinite(planes) & (planes > 0)])
    if not numbers.size:
        return np.zeros((*planes.shape, 1), np.float32)
    return np.asarray(planes[..., None] == numbers, np.float32)


def _require(options: OasisLike) -> None:
    if options.layout not in _LAST:
        raise Misuse(f"layout: expected oasis or depthgauge, got '{options.layout}'.")
    if options.scenes < 1 or options.annotators < 0 or options.seed < 0:
        raise Misuse(
            "a set needs one scene or more and no negative number of annotators or seed; found "
            f"{options.scenes} scenes, {options.annotators} annotators, seed {options.seed}."
        )


def _about(options: OasisLike) -> dict[str, object]:
    values = {**asdict(options), "size_px": list(options.size_px)}
    return {"program": _PROGRAM, "revision": REVISION, "views": VIEWS_REVISION, **values}


def _begin(root: Path, options: OasisLike, overwrite: bool) -> bool:
    """Records what is made here; sets with other options are not mixed.

    Returns:
        Whether there is anything to do; False if the same set is finished.
    """
    place = root / ABOUT
    text = json.dumps(_about(options), indent=1) + "\n"
    same = place.is_file() and place.read_text(encoding="utf-8") == text
    if same and not overwrite and (root / _LAST[options.layout]).is_file():
        return False
    if place.is_file() and not same:
        if not overwrite:
            raise CannotWrite(
                f"{root}: holds a set made with other options ({ABOUT} says which); choose another "
                "folder, or say --overwrite (overwrite=True) to replace it."
            )
        _remove(root, read_json(place))
    elif not place.is_file() and (found := [n for n in _OWN if (root / n).exists()]):
        raise CannotWrite(
            f"{root}: has {' and '.join(found)} already, which do not belong to such a set; choose "
            "another folder."
        )
    root.mkdir(parents=True, exist_ok=True)
    io.write_text(place, text)
    return True


def _remove(root: Path, about: Mapping[str, Any]) -> None:
    """Removes the files of a set with those options, and nothing else."""
    ids = ["{}-{:04d}".format(*_scene_of(int(about["seed"]), n)) for n in range(about["scenes"])]
    people = [f"human-{n}" for n in range(1, int(about["annotators"]) + 1)]
    for name in ids:
        made = [root / SENSOR / q / f"{name}.npy" for q in ("depth", "normals")]
        made.append(root / TRUTH_RECORDS / f"{name}{SUFFIX}")
        for person in people:
            made.append(root / RECORDS / person / f"{name}{SUFFIX}")
            made += (root / HUMANS / person).glob(f"*/{name}.*")
            made += (root / HUMANS / person).glob(f"planar/{name}_*.png")
        for path in made:
            path.unlink(missing_ok=True)
    for own in _OWN:
        below = [path for path in (root / own).rglob("*") if path.is_dir()]
        for folder in (*sorted(below, reverse=True), root / own):
            with suppress(OSError):  # it contains other files
                folder.rmdir()


def _write_exact(root: Path, view: ExactView) -> None:
    for quantity, values in (("depth", view.depth), ("normals", view.normals)):
        path = root / SENSOR / quantity / f"{view.id}.npy"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            io.write_map(path, values, quantity=quantity)


def _write_humans(root: Path, view: ExactView, options: OasisLike) -> None:
    for person in range(1, options.annotators + 1):
        name = f"human-{person}"
        # Records are written last: if they exist, everything exists.
        path = root / RECORDS / name / f"{view.id}{SUFFIX}"
        if path.is_file():
            continue
        annotation = simulate(view, options.human_noise, person)
        for estimate in estimates_of(reconstruct(annotation)):
            oasis.write_estimate(root / HUMANS / name, view.id, estimate)
        _write_records(path, annotation)


def _truth_sample(root: Path, view: ExactView, options: OasisLike) -> Sample:
    annotation = simulate(view, options.truth_noise, 0)
    path = root / TRUTH_RECORDS / f"{view.id}{SUFFIX}"
    if not path.is_file():
        _write_records(path, annotation)
    sample = sample_of(annotation, view.image, seed=options.seed)
    if options.layout == "oasis" or sample.truth is None:
        return sample
    exact = {"exact_depth": view.depth, "exact_normals": view.normals}
    return replace(sample, truth=Truth({**sample.truth, **exact}))


def _write_records(path: Path, annotation: Annotation) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_records(path, annotation)
