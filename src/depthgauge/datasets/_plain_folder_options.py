"""Options of the `folder` dataset: what `depthgauge.toml` or the caller says about the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge._registry import nearest
from depthgauge.errors import BadData
from depthgauge.io.text import read_toml
from depthgauge.quantities import QUANTITIES

FILE_NAME = "depthgauge.toml"
IMAGES = {
    "left": "left_image",
    "right": "right_image",
    "first": "first_image",
    "second": "second_image",
    "image": "image",
}
"""Patterns of pictures, which are also their usual folders, and the names of their items."""
LEADING = ("left_image", "first_image", "image")
"""Pictures that make a sample even without truth."""
_PATTERNS = ("truth", *IMAGES)
_KNOWN = (
    *_PATTERNS,
    "root",
    "quantity",
    "scale",
    "invalid",
    "disparity_range",
    "labels",
    "folders",
)


@dataclass(frozen=True, slots=True)
class PlainFolderOptions:
    """Where the files of a sample are; `{id}` in a pattern stands for the sample's id."""

    root: Path
    """Where the files are: the folder itself, unless it names another one."""
    truth: str | None = None
    """Maps, e.g. `truth/{id}.pfm`."""
    left: str | None = None
    """Left (or only) images."""
    right: str | None = None
    """Right images."""
    first: str | None = None
    """First frames, for flow."""
    second: str | None = None
    """Second frames, for flow."""
    image: str | None = None
    """Single pictures, for monocular depth."""
    quantity: str | None = None
    """What the maps contain; None: flow if all of them are .flo files, else disparity."""
    scale: float | None = None
    """Stored value divided by the quantity, for integer formats."""
    invalid: tuple[float, ...] = ()
    """Stored values that mean missing."""
    disparity_range: tuple[float, float] | None = None
    """The search range given to the methods."""
    masks: Mapping[str, str] = field(default_factory=dict)
    """Patterns by `<name>_mask`."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Patterns by `<name>_labels`."""
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Other folders with pictures, by the item's name: those of a sample have its id."""

    def patterns(self) -> dict[str, str]:
        """The given patterns by the item's name; the map is called `truth`."""
        named = {"truth": self.truth}
        named |= {item: getattr(self, name) for name, item in IMAGES.items()}
        given = {name: pattern for name, pattern in named.items() if pattern is not None}
        return {**given, **self.masks, **self.labels}


def load(root: Path, given: Mapping[str, Any]) -> PlainFolderOptions:
    """The options of a folder; arguments override the file.

    Raises:
        BadData: There are mistakes; the message lists all of them.
    """
    path = root / FILE_NAME
    content: dict[str, Any] = read_toml(path) if path.is_file() else {}
    place = _place(root, content.pop("root", None))
    if place != root and (place / FILE_NAME).is_file():
        content = {**read_toml(place / FILE_NAME), **content}
    content.update({key: value for key, value in given.items() if value is not None})
    wrong = [mistake for key, value in content.items() for mistake in _mistakes(key, value)]
    if wrong:
        raise BadData(f"{path if path.is_file() else root}: {'; '.join(wrong)}.")
    return _options(place, root, content)


def _place(root: Path, named: Any) -> Path:
    """The folder that holds the files."""
    if named is None:
        return root
    if not isinstance(named, str) or not (root / named).is_dir():
        raise BadData(f"{root / FILE_NAME}: 'root' must be a folder that exists, found {named!r}.")
    return root / named


def _options(root: Path, told: Path, content: Mapping[str, Any]) -> PlainFolderOptions:
    """The options; `told` is the folder whose file says them."""
    span = content.get("disparity_range")
    return PlainFolderOptions(
        root,
        **{name: content.get(name) for name in _PATTERNS},
        quantity=content.get("quantity"),
        scale=content.get("scale"),
        invalid=tuple(content.get("invalid", ())),
        disparity_range=None if span is None else (span[0], span[1]),
        masks={key: value for key, value in content.items() if key.endswith("_mask")},
        labels={f"{key}_labels": value for key, value in content.get("labels", {}).items()},
        folders={IMAGES[key]: told / value for key, value in content.get("folders", {}).items()},
    )


def _mistakes(key: str, value: Any) -> list[str]:
    if key in _PATTERNS or key.endswith("_mask"):
        return _pattern_mistakes(key, value)
    if key == "labels":
        if not isinstance(value, Mapping):
            return ["'labels' must be a table of patterns, such as labels.material"]
        return [
            m for name, part in value.items() for m in _pattern_mistakes(f"labels.{name}", part)
        ]
    checks = {
        "quantity": _quantity_mistake,
        "scale": _scale_mistake,
        "invalid": _invalid_mistake,
        "disparity_range": _range,
        "folders": _folders_mistake,
    }
    if key in checks:
        return [mistake] if (mistake := checks[key](value)) else []
    known = ", ".join((*_KNOWN, "<name>_mask"))
    return [f"unknown key '{key}'. {nearest(key, _KNOWN)} Known: {known}".replace("  ", " ")]


def _pattern_mistakes(key: str, value: Any) -> list[str]:
    if not isinstance(value, str) or "{id}" not in value:
        return [f"'{key}' must be a pattern with {{id}} in it, found {value!r}"]
    if value.startswith("/") or "\\" in value or ".." in value.split("/"):
        return [f"'{key}' must stay below the folder, found {value!r}"]
    return []


def _quantity_mistake(value: Any) -> str:
    if value in QUANTITIES:
        return ""
    hint = nearest(str(value), QUANTITIES)
    return f"unknown quantity {value!r}. {hint} Known: {', '.join(QUANTITIES)}"


def _scale_mistake(value: Any) -> str:
    fine = _is_number(value) and value > 0
    return "" if fine else f"'scale' must be a positive number, found {value!r}"


def _invalid_mistake(value: Any) -> str:
    fine = isinstance(value, (list, tuple)) and all(map(_is_number, value))
    return "" if fine else f"'invalid' must be a list of numbers, found {value!r}"


def _range(value: Any) -> str:
    pair = isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_number, value))
    fine = pair and value[0] < value[1]
    return "" if fine else f"'disparity_range' must be [lowest, highest], found {value!r}"


def _folders_mistake(value: Any) -> str:
    known = isinstance(value, Mapping) and set(value) <= set(IMAGES)
    if known and all(isinstance(folder, str) for folder in value.values()):
        return ""
    return f"'folders' must be a table of folders for {', '.join(IMAGES)}, found {value!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
