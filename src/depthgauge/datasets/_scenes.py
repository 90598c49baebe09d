"""What layouts with one folder for each scene have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from depthgauge.datasets._dataset import DatasetSpec, expected
from depthgauge.datasets._paths import inside
from depthgauge.errors import BadData, Misuse


def scene_folders(root: Path, signs: Iterable[str]) -> list[Path]:
    """The folders directly under `root` that contain at least one of the expected files, by name.

    `signs` are relative to the scene's folder. Other folders are ignored.

    Raises:
        BadData: `root` is itself such a folder.
    """
    names = tuple(signs)
    if _holds_any(root, names):
        raise BadData(
            f"{root}: this is the folder of one scene; give the folder that holds it, "
            f"{root.resolve().parent}."
        )
    return sorted(p for p in root.iterdir() if p.is_dir() and _holds_any(p, names))


def _holds_any(folder: Path, names: Sequence[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def refuse(spec: DatasetSpec, root: Path, faults: Mapping[str, Sequence[str]]) -> None:
    """Reports all incomplete scenes at once, if there are any.

    Raises:
        BadData: At least one scene has a fault.
    """
    listed = "; ".join(f"{scene}: {', '.join(what)}" for scene, what in faults.items() if what)
    if listed:
        raise BadData(f"{root}: incomplete scenes: {listed}. {expected(spec)}")


def one_of(folder: Path, names: Iterable[str], faults: list[str]) -> Path | None:
    """The one of these files that exists; two of them are a fault."""
    found = [folder / name for name in names if (folder / name).is_file()]
    if len(found) > 1:
        faults.append(f"has both {' and '.join(p.name for p in found)}, keep one")
    return found[0] if found else None


def together(
    first: Path | None, second: Path | None, names: tuple[str, str], faults: list[str]
) -> None:
    """Adds a fault if only one of two files exists."""
    if (first is None) != (second is None):
        lacking, present = names if first is None else names[::-1]
        faults.append(f"lacks {lacking} but has {present}")


def new_scene(root: Path, sample_id: str) -> Path:
    """Creates the folder of a scene that is about to be written.

    Raises:
        Misuse: The layout does not allow nested folders.
    """
    if "/" in sample_id:
        raise Misuse(f"sample id '{sample_id}' has a '/': this layout has one folder per scene.")
    folder = inside(Path(root), sample_id)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
