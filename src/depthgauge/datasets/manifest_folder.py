"""Our own dataset folder: a manifest with the hash of every file, and a folder for each sample."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside, unsafe
from depthgauge.errors import BadData, Misuse, Problem
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Frames, Inputs, Items, Sample, Truth, frame_name

if TYPE_CHECKING:
    from depthgauge.datasets._manifest_folder.manifest_file import Entry, Item, Manifest

SPEC = DatasetSpec(
    id="depthgauge",
    title="depthgauge dataset folder",
    quantities=(),
    splits=(),
    licence="as dataset.json says",
    cite="",
    homepage="",
    sample_layout="dataset.json, <sample>/inputs/<item>.{png,npy,txt} and "
    "<sample>/truth/<item>.{png,npy}",
    lists_hashes=True,
)


@reader(SPEC)
def samples(root: Path, split: str, *, trust: bool = False) -> Iterator[Sample]:
    """The samples of a split of the manifest; the split `all` always exists.

    Args:
        root: The folder with the manifest.
        split: Which samples.
        trust: Whether files are read without a comparison with their SHA-256 in the manifest.
    """
    from depthgauge.datasets._manifest_folder import manifest_file

    manifest = manifest_file.read(root)
    ids = manifest.ids(split)
    wrong = [p for sample_id in ids for p in _quick_check(root, manifest.samples[sample_id])]
    if wrong:
        listed = "; ".join(str(p) for p in wrong[:10])
        raise BadData(f"{root}: {len(wrong)} file(s) are not as dataset.json says: {listed}.")
    for sample_id in ids:
        yield _sample(root, sample_id, manifest.samples[sample_id], trust)


def verify(root: Path) -> list[Problem]:
    """Everything that is wrong with a folder: manifest, presence, size and hash of every file."""
    from depthgauge.datasets._manifest_folder import manifest_file

    root = Path(root)
    manifest, wrong = manifest_file.problems(root)
    if manifest is None:
        return wrong
    return [
        problem
        for sample_id in sorted(manifest.samples)
        for item in manifest.samples[sample_id].files()
        for problem in _check(root, item, content=True)
    ]


def manifest_hash(root: Path) -> str:
    """SHA-256 of the manifest's content, and thus of all the data that it lists."""
    from depthgauge.datasets._manifest_folder import manifest_file

    return manifest_file.manifest_hash(Path(root))


def write(
    root: Path,
    samples: Iterable[Sample],
    *,
    id: str,
    title: str,
    licence: str,
    split: str | None = None,
    splits: Mapping[str, Collection[str]] | None = None,
    quantities: Collection[str] | None = None,
    with_truth: bool = True,
    made_by: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Writes samples as a dataset folder; the manifest is written last, so an unfinished folder is
    never mistaken for a dataset.

    Items that are paths are left out, because they refer to where the sample came from.

    Args:
        root: The folder; created if it does not exist.
        samples: What to write. Each sample is read, written and released before the next.
        id: Short name of the dataset.
        title: Its name for people.
        licence: The licence under which it may be used.
        split: The split that all samples belong to, besides `all`.
        splits: Alternatively, splits with the ids of their samples.
        quantities: What the truth contains; by default found in the samples.
        with_truth: False writes the inputs only, for publishing a hidden test split.
        made_by: How the data was made (program, version, options); plain values.
        overwrite: Replaces an existing dataset folder.

    Raises:
        BadData: There is already a dataset, or two samples share an id.
        Misuse: An item has a type that a folder cannot hold.
    """
    from depthgauge.datasets._manifest_folder import manifest_file

    root = Path(root)
    place = root / manifest_file.FILE_NAME
    if place.exists() and not overwrite:
        raise BadData(f"{root}: already contains a dataset; write elsewhere or overwrite it.")
    before = _files(root)
    # There is no manifest while files change, so it can never be wrong about them.
    place.unlink(missing_ok=True)
    entries: dict[str, dict[str, Any]] = {}
    for sample in samples:
        if sample.id in entries:
            raise BadData(f"{root}: two samples are called '{sample.id}'; rename one.")
        entries[sample.id] = _write_sample(root, sample, with_truth)
    content = {
        "schema": manifest_file.SCHEMA,
        "id": id,
        "title": title,
        "licence": licence,
        "quantities": sorted(_quantities(entries) if quantities is None else quantities),
        "splits": _split_ids(entries, split, splits),
        "samples": entries,
        "made_by": _inline("made_by", dict(made_by or {}))["value"],
    }
    manifest_file.write(root, _validated(root, content))
    # Files that only the old folder had may be truth that is hidden from now on.
    for relative in before - _files(root):
        inside(root, relative).unlink(missing_ok=True)


def _files(root: Path) -> set[str]:
    from depthgauge.datasets._manifest_folder import manifest_file

    manifest, _ = manifest_file.problems(root)
    entries = () if manifest is None else manifest.samples.values()
    return {str(item.path) for entry in entries for item in entry.files()}


def _validated(root: Path, content: dict[str, Any]) -> Manifest:
    from pydantic import ValidationError

    from depthgauge.datasets._manifest_folder import manifest_file

    try:
        return manifest_file.Manifest.model_validate(content)
    except ValidationError as e:
        listed = "; ".join(error["msg"] for error in e.errors())
        raise Misuse(f"{root}: the dataset cannot be written: {listed}.") from e


def _split_ids(
    entries: Collection[str], split: str | None, splits: Mapping[str, Collection[str]] | None
) -> dict[str, list[str]]:
    if splits is not None:
        return {name: sorted(ids) for name, ids in splits.items()}
    return {} if split in (None, "all") else {str(split): sorted(entries)}


def _quantities(entries: Mapping[str, Mapping[str, Any]]) -> set[str]:
    names = {name for entry in entries.values() for name in entry["truth"] or ()}
    return names & set(QUANTITIES)


def _write_sample(root: Path, sample: Sample, with_truth: bool) -> dict[str, Any]:
    if why := unsafe(sample.id):
        raise Misuse(f"sample id '{sample.id}' is refused: {why}.")
    truth = sample.truth if with_truth else None
    return {
        "scene": sample.scene,
        "inputs": _write_items(root, f"{sample.id}/inputs", sample.inputs),
        "truth": None if truth is None else _write_items(root, f"{sample.id}/truth", truth),
    }


def _write_items(root: Path, folder: str, items: Items) -> dict[str, Any]:
    written = {}
    for name in items:
        thing = items[name]
        if not isinstance(thing, Path):
            written[name] = _write_item(root, folder, name, thing)
    return written


def _write_item(root: Path, folder: str, name: str, thing: Any, of: str = "") -> dict[str, Any]:
    """Writes one item; the frames of a clip are written one by one, each as part of item `of`."""
    from depthgauge.datasets._manifest_folder.item_kinds import FILE_KINDS, file_kind
    from depthgauge.datasets._manifest_folder.manifest_file import FRAMES, file_hash

    if isinstance(thing, Frames):
        frames = [
            _write_item(root, f"{folder}/{name}", frame_name(index), frame, of=name)
            for index, frame in enumerate(thing)
        ]
        return {"kind": FRAMES, "frames": frames}
    kind = file_kind(of or name, thing)
    if kind is None:
        return _inline(f"{folder}/{name}", thing)
    relative = f"{folder}/{name}{FILE_KINDS[kind].suffix}"
    path = inside(root, relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    FILE_KINDS[kind].write(path, thing)
    size = path.stat().st_size
    return {"kind": kind, "path": relative, "bytes": size, "sha256": file_hash(path)}


def _inline(where: str, thing: Any) -> dict[str, Any]:
    from depthgauge.datasets._manifest_folder.item_kinds import INLINE_KINDS, inline_kind

    kind = inline_kind(where, thing)
    if kind is None:
        raise Misuse(
            f"{where}: a dataset folder cannot hold an item of type {type(thing).__name__}; "
            "it holds arrays, rigs, cameras and plain values."
        )
    try:
        return {"kind": kind, "value": INLINE_KINDS[kind].encode(thing)}
    except Misuse as e:
        raise Misuse(f"{where}: {e}.") from None


def _quick_check(root: Path, entry: Entry) -> Iterator[Problem]:
    for item in entry.files():
        yield from _check(root, item, content=False)


def _check(root: Path, item: Item, content: bool) -> Iterator[Problem]:
    from depthgauge.datasets._manifest_folder.manifest_file import file_hash

    where = str(item.path)
    try:
        path = inside(root, where)
    except BadData as e:
        yield Problem(where, str(e))
        return
    if not path.is_file():
        yield Problem(where, "the file is missing")
    elif (size := path.stat().st_size) != item.bytes:
        yield Problem(where, f"has {size} bytes, not {item.bytes}")
    elif content and file_hash(path) != item.sha256:
        yield Problem(where, "its SHA-256 is not the one in dataset.json", "fetch it again")


def _sample(root: Path, sample_id: str, entry: Entry, trust: bool) -> Sample:
    truth = None if entry.truth is None else Truth(_loaders(root, entry.truth, trust))
    inputs = Inputs(_loaders(root, entry.inputs, trust))
    return Sample(id=sample_id, inputs=inputs, truth=truth, scene=entry.scene)


def _loaders(root: Path, items: Mapping[str, Item], trust: bool) -> dict[str, Any]:
    from depthgauge.datasets._manifest_folder.verified_files import read_listed

    def loader(item: Item) -> Any:
        if item.frames is not None:
            return Frames([loader(frame) for frame in item.frames])
        if item.path is None:
            return item.decoded()
        place = inside(root, item.path)
        return partial(read_listed, item.kind, place, str(item.sha256), trust)

    return {name: loader(item) for name, item in items.items()}
