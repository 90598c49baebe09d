"""The files of Booster: splits, setups, scenes, and the content of each scene's folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from depthgauge.datasets._dataset import DatasetSpec, expected
from depthgauge.errors import BadData

BALANCED, UNBALANCED, MONO = "balanced", "unbalanced", "mono"
LEFT, RIGHT = "camera_00", "camera_02"
CALIBRATION = "calib_00-02.xml"
DISPARITY, RIGHT_DISPARITY = "disp_00.npy", "disp_02.npy"
VISIBLE, RIGHT_VISIBLE = "mask_00.png", "mask_02.png"
MATERIALS = "mask_cat.png"
SURFACES = "mask_surface.png"
"""Our own addition, to compare surfaces: 0 neither, 1 transparent, 2 mirror."""
TRUTH_FILES = (DISPARITY, RIGHT_DISPARITY, VISIBLE, RIGHT_VISIBLE, MATERIALS, SURFACES)
TRAIN, TEST_STEREO, TEST_MONO, UNLABELLED = "train", "test-stereo", "test-mono", "unlabelled"
_IMAGE = re.compile(r"(?:im)?(\d{1,9})\.png")
_FOLDERS = {TRAIN: ("train",), TEST_STEREO: ("test",), TEST_MONO: ("test",)} | {
    UNLABELLED: ("unlabelled", "unlabeled")
}
"""The folders of each split; if there are two spellings, the first one is written."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The folder of a scene and its split."""

    folder: Path
    split: str

    @property
    def name(self) -> str:
        """The first part of its samples' ids."""
        return self.folder.name


def splits_of(setup: str) -> tuple[str, ...]:
    """The splits of a setup; only the balanced pairs have left pictures for single-image depth."""
    mono = (TEST_MONO,) if setup == BALANCED else ()
    return (TRAIN, TEST_STEREO, *mono, UNLABELLED)


def place_of(root: Path, split: str, setup: str) -> Path:
    """Where the scenes of a split are written."""
    return root / _FOLDERS[split][0] / (MONO if split == TEST_MONO else setup)


def find_scenes(spec: DatasetSpec, root: Path, split: str, setup: str) -> list[Scene]:
    """The scenes of a split below `root`, by name.

    `root` is the dataset's folder, the folder of a split (`train`), or any folder of scenes. A
    folder of scenes counts as the requested split, unless its name or its parent's name is that of
    another split.

    Raises:
        BadData: Two scenes have the same name, `root` is itself a scene or contains pairs of the
            other setup, or it contains only other splits.
    """
    if is_scene(root):
        raise BadData(
            f"{root}: this is the folder of one scene; give the folder that holds it, "
            f"{root.resolve().parent}."
        )
    other_setup = UNBALANCED if setup == BALANCED else BALANCED
    if root.resolve().name == other_setup:
        raise BadData(
            f"{root}: these are the {other_setup} pairs, not the {setup} ones; give the folder "
            f"above, or use a benchmark of {other_setup} pairs."
        )
    wanted = splits_of(setup) if split == "all" else (split,)
    found: dict[str, Scene] = {}
    for place, of in _places(root, wanted, setup):
        for folder in sorted(p for p in place.iterdir() if is_scene(p)):
            if folder.name in found:
                other = found[folder.name].folder
                raise BadData(
                    f"{root}: scene '{folder.name}' is in {_short(root, other)} and in "
                    f"{_short(root, folder)}; rename one, or choose one split."
                )
            found[folder.name] = Scene(folder, of)
    if not found:
        raise _nothing(spec, root, split, setup)
    return [found[name] for name in sorted(found)]


def is_scene(folder: Path) -> bool:
    """Whether a folder contains left pictures or a left truth."""
    return folder.is_dir() and ((folder / LEFT).is_dir() or (folder / DISPARITY).is_file())


def image_names(folder: Path) -> list[str]:
    """The pictures of a camera by number: `im0.png`, `im1.png` ... or `0000.png` ...

    Other files are ignored.
    """
    if not folder.is_dir():
        return []
    named = [(_IMAGE.fullmatch(path.name), path) for path in folder.iterdir() if path.is_file()]
    found = [(int(match[1]), path.name) for match, path in named if match]
    return [name for _, name in sorted(found)]


def is_image_name(name: str) -> bool:
    """Whether a picture of that name would be read.

    >>> is_image_name("im10.png"), is_image_name("0003.png"), is_image_name("left.png")
    (True, True, False)
    """
    return _IMAGE.fullmatch(name) is not None


def _places(root: Path, wanted: tuple[str, ...], setup: str) -> Iterator[tuple[Path, str]]:
    """The folders of scenes, each with its split."""
    known = list(_known_places(root, setup))
    if known:
        yield from ((place, split) for place, split in known if split in wanted)
        return
    of_root = _split_of(root.resolve(), setup)
    if of_root is None:
        # A plain folder of scenes has no split; `all` reads its pairs and truth as they are.
        yield root, wanted[0]
    elif of_root in wanted:
        yield root, of_root


def _known_places(root: Path, setup: str) -> Iterator[tuple[Path, str]]:
    """The existing folders `<split>/<setup>/` below the dataset, or `<setup>/` below a split."""
    own = root.resolve().name
    for split in splits_of(setup):
        inner = MONO if split == TEST_MONO else setup
        for name in _FOLDERS[split]:
            if (root / name / inner).is_dir():
                yield root / name / inner, split
            if own == name and (root / inner).is_dir():
                yield root / inner, split


def _split_of(folder: Path, setup: str) -> str | None:
    """The split of a folder of scenes according to its path; None if the path does not tell."""
    outer, inner = folder.parent.name, folder.name
    for split in splits_of(setup):
        expected_inner = MONO if split == TEST_MONO else setup
        if inner == expected_inner and outer in _FOLDERS[split]:
            return split
    return None


def _nothing(spec: DatasetSpec, root: Path, split: str, setup: str) -> BadData:
    others = {of for place, of in _known_places(root, setup) if any(map(is_scene, place.iterdir()))}
    own = _split_of(root.resolve(), setup)
    others |= {own} if own and any(map(is_scene, root.iterdir())) else set()
    if not others:
        return BadData(f"{root}: no scene of split '{split}'. {expected(spec)}")
    first = next(name for name in splits_of(setup) if name in others)
    return BadData(
        f"{root}: has no scene of split '{split}', only of {', '.join(sorted(others))}; to use "
        f"these, name the split after the benchmark: BENCHMARK@{first}."
    )


def _short(root: Path, folder: Path) -> str:
    return folder.relative_to(root).as_posix()
