"""Writes the scenes of a dataset into the splits that were chosen for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from depthgauge._progress import Progress, no_progress
from depthgauge.capture.export import Setups, require_room, write_scene
from depthgauge.capture.splits import Splits
from depthgauge.datasets import booster, booster_unbalanced
from depthgauge.datasets._booster import layout
from depthgauge.datasets._test_splits import folder_of_truth, is_test_split, without_truth
from depthgauge.errors import Misuse
from depthgauge.types import Sample


def write_splits(
    root: Path,
    splits: Splits,
    out: Path,
    *,
    source: str = layout.TRAIN,
    with_truth: Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Writes a dataset in which every scene is in its split; the test splits have no truth.

    Scenes of `test-mono` have their left pictures only, those of the other splits both pairs.

    Args:
        root: The dataset that has all scenes in one split, with their truth.
        splits: Which scene goes where.
        out: The folder of the new dataset.
        source: The split of `root` that is divided.
        with_truth: A folder outside of the dataset's that gets the test splits with their truth.
        overwrite: Replace scenes that are there.
        progress: Called for each scene.

    Returns:
        The number of scenes of each split.

    Raises:
        Misuse: The new dataset would be inside the old one, or the truth beside its images.
        CannotWrite: A scene exists already; then nothing is written.
    """
    say = progress or no_progress
    inside, outside = Path(root).resolve(), Path(out).resolve()
    if inside.is_relative_to(outside) or outside.is_relative_to(inside):
        raise Misuse(f"{out}: give a folder that is neither inside of {root} nor around it")
    kept = {
        split: folder_of_truth(out, split, with_truth) if is_test_split(split) else None
        for split in splits.scenes
    }
    scenes = _scenes(root, source)
    for split, name, _ in _jobs(splits):
        for folder in (out, kept[split]):
            if folder is not None:
                require_room(folder, name, split, _setups_of(scenes[name], split), overwrite)
    jobs = list(_jobs(splits))
    for split, name, done in jobs:
        found = {s: scenes[name][s] for s in _setups_of(scenes[name], split)}
        hidden = kept[split]
        published: Setups = (
            {setup: list(without_truth(of)) for setup, of in found.items()}
            if is_test_split(split)
            else found
        )
        copies = {out: published} | ({hidden: found} if hidden else {})
        write_scene(copies, name, split, overwrite)
        say("writing scenes", done + 1, len(jobs))
    return {split: len(names) for split, names in splits.scenes.items()}


def _jobs(splits: Splits) -> Iterator[tuple[str, str, int]]:
    named = ((split, name) for split, names in splits.scenes.items() for name in names)
    return ((split, name, number) for number, (split, name) in enumerate(named))


def _setups_of(scene: Setups, split: str) -> list[str]:
    """Single-image depth needs the balanced pair's left picture only."""
    only = (layout.BALANCED,) if split == layout.TEST_MONO else (layout.BALANCED, layout.UNBALANCED)
    return [setup for setup in only if setup in scene]


def _scenes(root: Path, source: str) -> dict[str, dict[str, list[Sample]]]:
    """All samples by scene and setup; pictures and maps are read when they are written."""
    found: dict[str, dict[str, list[Sample]]] = {}
    readers = {layout.BALANCED: booster.samples}
    if any((root / name / layout.UNBALANCED).is_dir() for name in (source, ".")):
        readers[layout.UNBALANCED] = booster_unbalanced.samples
    for setup, read in readers.items():
        for sample in read(root, source):
            found.setdefault(sample.scene, {}).setdefault(setup, []).append(sample)
    return {name: setups for name, setups in found.items() if layout.BALANCED in setups}
