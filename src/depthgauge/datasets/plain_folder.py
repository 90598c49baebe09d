"""Any folder of maps and images; files with matching names form a sample."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._shorten import first_few
from depthgauge.datasets import _plain_folder_options as folder_options
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._labels import write_labels
from depthgauge.datasets._paths import inside
from depthgauge.datasets._plain_folder_options import PlainFolderOptions
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.errors import BadData, Unavailable, UnknownScale
from depthgauge.types import Inputs, Map, Sample, Truth

SPEC = DatasetSpec(
    id="folder",
    title="A folder of maps and images that belong together by name",
    quantities=(),
    splits=("all",),
    licence="your own",
    cite="",
    homepage="",
    sample_layout="truth/<id>.{pfm,png,npy,...} (or the maps directly in the folder), "
    "left/<id>.png and right/<id>.png (flow: first/ and second/, one picture alone: image/), "
    "masks/<name>/<id>.png and labels/<name>/<id>.png where there are any; or a depthgauge.toml "
    "that says truth = 'path/{id}.pfm', left = ..., right = ..., first = ..., second = ..., "
    "image = ..., root = 'folder' where the files are in another folder, and folders.left = "
    "'folder' where the left pictures are in another one",
)

_IMAGE_SUFFIXES = ("png", "jpg", "jpeg", "ppm", "pgm", "exr")
_MASK_SUFFIXES = ("png", "pgm", "npy")
_MOST_NAMED = 5

Files = dict[str, dict[str, Path]]
"""By sample id: the file of each item (`left_image`, the quantity, `<name>_mask` ...)."""


@reader(SPEC)
def samples(root: Path, split: str, **options: Any) -> Iterator[Sample]:
    """One sample for each map, and one without truth for each picture that has no map.

    A right or second picture alone does not form a sample.

    Args:
        root: The folder.
        split: There is only `all`.
        options: `truth`, `left`, `right`, `first`, `second`, `image`, `<name>_mask`: patterns
            with `{id}`; `labels`: patterns by name; `folders`: other folders of pictures, by
            `left`, `right` ...; `quantity`, `scale`, `invalid`, `disparity_range`. They override
            `depthgauge.toml`.
    """
    chosen = folder_options.load(root, options)
    files = _by_pattern(chosen.root, chosen) if chosen.patterns() else _by_default(chosen.root)
    for item, folder in chosen.folders.items():
        _add_from(files, item, folder)
    quantity = chosen.quantity or _guess_quantity(files)
    for sample_id in sorted(files):
        yield _sample(sample_id, files[sample_id], quantity, chosen)


def _add_from(files: Files, item: str, folder: Path) -> None:
    """Adds the pictures of another folder to the samples of the same name.

    Raises:
        BadData: There is no such folder, or none of its pictures has the name of a sample.
    """
    found = _below(folder, _IMAGE_SUFFIXES)
    common = files.keys() & found.keys()
    if not common:
        names = first_few(sorted(found), _MOST_NAMED) or "no pictures"
        raise BadData(
            f"{folder}: must hold pictures named as the samples "
            f"({first_few(sorted(files), _MOST_NAMED)}); it has {names}."
        )
    for sample_id in common:
        files[sample_id][item] = found[sample_id]


def _guess_quantity(files: Files) -> str:
    suffixes = {found["truth"].suffix.lower() for found in files.values() if "truth" in found}
    return "flow" if suffixes == {".flo"} else "disparity"


def _sample(
    sample_id: str, files: Mapping[str, Path], quantity: str, chosen: PlainFolderOptions
) -> Sample:
    inputs: dict[str, Any] = {
        name: partial(io.read_image, path)
        for name, path in files.items()
        if name in folder_options.IMAGES.values()
    }
    if chosen.disparity_range is not None:
        inputs["disparity_range"] = chosen.disparity_range
    if "truth" not in files:
        return Sample(sample_id, Inputs(inputs), None)
    truth: dict[str, Any] = {
        quantity: partial(_read_truth, files["truth"], quantity, chosen.scale, chosen.invalid),
        f"{quantity}_path": files["truth"],
    }
    for name, path in files.items():
        if name.endswith("_mask"):
            truth[name] = partial(io.read_mask, path)
        if name.endswith("_labels"):
            truth[name] = partial(io.read_labels, path)
    return Sample(sample_id, Inputs(inputs), Truth(truth))


def _read_truth(path: Path, quantity: str, scale: float | None, invalid: tuple[float, ...]) -> Map:
    try:
        return io.read_map(path, quantity=quantity, scale=scale, invalid=invalid)
    except UnknownScale as error:
        raise error.said_as("scale = {per_unit} in its depthgauge.toml") from None


# Files by the patterns of a depthgauge.toml: all of them must exist.


def _by_pattern(root: Path, chosen: PlainFolderOptions) -> Files:
    patterns = chosen.patterns()
    leading = ("truth", *folder_options.LEADING)
    if not set(leading) & set(patterns):
        raise BadData(
            f"{root}: patterns for {', '.join(patterns)} only; "
            "add 'truth', 'left', 'first' or 'image'."
        )
    found = {name: _matching(root, pattern) for name, pattern in patterns.items()}
    ids = {sample_id for name in leading for sample_id in found.get(name, ())}
    lacking = [
        patterns[name].replace("{id}", sample_id)
        for name in patterns
        for sample_id in sorted(ids - set(found[name]))
    ]
    if lacking:
        raise BadData(
            f"{root}: {len(lacking)} of the files that the patterns require are missing: "
            f"{first_few(lacking, _MOST_NAMED)}. Add them, or remove the pattern."
        )
    return {i: {name: paths[i] for name, paths in found.items()} for i in ids}


def _matching(root: Path, pattern: str) -> dict[str, Path]:
    """Files that match a pattern, by id; an id may span folders."""
    expression = re.compile(_expression(pattern))
    start = root.joinpath(*pattern.partition("{id}")[0].split("/")[:-1])
    found = {}
    for path in sorted(start.rglob("*")) if start.is_dir() else ():
        fit = expression.fullmatch(path.relative_to(root).as_posix())
        if fit and _is_ours(path):
            found[fit["id"]] = path
    return found


def _expression(pattern: str) -> str:
    first, *rest = (re.escape(part) for part in pattern.split("{id}"))
    # The id may occur twice in a pattern, with the same value.
    return first + "(?P<id>.+)" + "(?P=id)".join(rest)


def _is_ours(path: Path) -> bool:
    # Some systems leave files such as `._left.png` in archives.
    return path.is_file() and not path.name.startswith(".")


# Files in their usual folders: those that exist are used.


def _by_default(root: Path) -> Files:
    folder = root / "truth"
    paths = folder.rglob("*") if folder.is_dir() else root.iterdir()
    maps = _by_stem(folder if folder.is_dir() else root, paths, SUFFIXES)
    if not maps and not _has_usual_folders(root):
        maps = _below(root, SUFFIXES)  # one folder per sequence
    pictures = {
        item: _below(root / place, _IMAGE_SUFFIXES) for place, item in folder_options.IMAGES.items()
    }
    optional = {
        **pictures,
        **_named(root / "masks", "mask"),
        **_named(root / "labels", "labels"),
    }
    leading = (sample_id for item in folder_options.LEADING for sample_id in pictures[item])
    files: Files = {sample_id: {} for sample_id in (*maps, *leading)}
    for name, found in {"truth": maps, **optional}.items():
        for sample_id in files.keys() & found.keys():
            files[sample_id][name] = found[sample_id]
    return files


def _has_usual_folders(root: Path) -> bool:
    usual = ("truth", "masks", "labels", *folder_options.IMAGES)
    return any((root / name).is_dir() for name in usual)


def _named(folder: Path, kind: str) -> dict[str, dict[str, Path]]:
    places = sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else ()
    return {f"{place.name}_{kind}": _below(place, _MASK_SUFFIXES) for place in places}


def _below(folder: Path, suffixes: Collection[str]) -> dict[str, Path]:
    return _by_stem(folder, folder.rglob("*") if folder.is_dir() else (), suffixes)


def _by_stem(folder: Path, paths: Iterable[Path], suffixes: Collection[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(paths):
        if not _is_ours(path) or path.suffix.lower()[1:] not in suffixes:
            continue
        sample_id = path.relative_to(folder).with_suffix("").as_posix()
        if sample_id in found:
            raise BadData(
                f"{folder}: {found[sample_id].name} and {path.name} are both '{sample_id}'; "
                "keep one of them, or choose one in depthgauge.toml: truth = 'truth/{id}.pfm'."
            )
        found[sample_id] = path
    return found


def write(
    root: Path, samples: Iterable[Sample], *, quantity: str = "disparity", suffix: str = "pfm"
) -> None:
    """Writes samples as folders of files: truth/, masks/<name>/, labels/<name>/, and left/, right/,
    first/, second/ and image/ if they have such pictures.

    Args:
        root: The folder.
        samples: With truth of the quantity, or without truth.
        quantity: Which map of the truth.
        suffix: Suffix of its files, without a dot.
    """
    root = Path(root)
    for sample in samples:
        for folder, name in folder_options.IMAGES.items():
            if name in sample.inputs:
                place = _place(root, f"{folder}/{sample.id}.png")
                io.write_image(place, sample.inputs[name])
        if sample.truth is not None:
            _write_truth(root, sample, sample.truth, quantity, suffix)


def _write_truth(root: Path, sample: Sample, truth: Truth, quantity: str, suffix: str) -> None:
    if quantity not in truth:
        raise Unavailable(f"sample '{sample.id}' has no {quantity} truth, only {', '.join(truth)}.")
    place = _place(root, f"truth/{sample.id}.{suffix}")
    io.write_map(place, truth[quantity], quantity=quantity)
    for name in truth:
        if name.endswith("_mask"):
            place = _place(root, f"masks/{name.removesuffix('_mask')}/{sample.id}.png")
            io.write_image(place, truth[name])
        if name.endswith("_labels"):
            place = _place(root, f"labels/{name.removesuffix('_labels')}/{sample.id}.png")
            write_labels(place, truth[name])


def _place(root: Path, relative: str) -> Path:
    path = inside(root, relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
