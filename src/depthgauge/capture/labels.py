"""Label maps drawn on the left photograph, in the frames of rectified pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.resample import resample, take_nearest
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions import Session

LABELS = {"materials": "mask_cat.png", "surfaces": "mask_surface.png"}
"""The session's label maps, and the files that they become."""
CLASSES = {"materials": 4, "surfaces": 3}
"""The number of labels of each kind, counted from 0."""
_BAND = 256
"""The number of rows whose positions are held at a time."""


def label_files(session: Session) -> list[Path]:
    """The label maps that a session has."""
    return [path for name in LABELS if (path := session.label_file(name)) is not None]


def rectified_labels(
    session: Session, name: str, balanced: RectifiedPair, view: RectifiedView
) -> NDArray[np.uint8] | None:
    """A label map in a rectified left view; None if the session has none.

    Each pixel takes the label of the nearest pixel of the map; 0 where the camera saw nothing.

    Args:
        session: The session.
        name: `materials` or `surfaces`.
        balanced: The balanced pair, on whose left image labels may have been drawn.
        view: The rectified left view to map them to, of either pair.

    Raises:
        BadData: The map has labels that do not exist.
        WrongShape: The map does not have the size of the photograph that it was drawn on.
    """
    path = session.label_file(name)
    if path is None:
        return None
    labels = _read(path, name)
    if session.labels_on == "raw":
        _need_size(path, labels, view.raw.size_px, "raw left photograph")
        return np.asarray(resample(view, labels, how="nearest"), np.uint8)
    _need_size(path, labels, balanced.left.camera.size_px, "rectified left photograph")
    if view is balanced.left:
        return labels
    return _carried(labels, balanced.left, view)


def write_labels(
    session: Session, balanced: RectifiedPair, view: RectifiedView, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """Writes the label maps of a rectified left view.

    Returns:
        Pixels of each label, and a sentence for each missing map.
    """
    counts: dict[str, Any] = {}
    warnings = []
    for name, file in LABELS.items():
        labels = rectified_labels(session, name, balanced, view)
        if labels is None:
            warnings.append(f"{session.folder}: no labels/{name}.png; {file} is left out.")
            continue
        io.write_image(folder / file, labels)
        found = np.bincount(labels.ravel(), minlength=CLASSES[name])
        counts[name] = {str(label): int(n) for label, n in enumerate(found)}
    return counts, warnings


def read_label_map(folder: Path, name: str) -> NDArray[np.int32] | None:
    """A label map that `write_labels` wrote; None if there was nothing to write."""
    path = folder / LABELS[name]
    return io.read_labels(path) if path.is_file() else None


def _read(path: Path, name: str) -> NDArray[np.uint8]:
    labels = io.read_labels(path)
    least, most = int(labels.min()), int(labels.max())
    if least < 0 or most >= CLASSES[name]:
        raise BadData(
            f"{path}: expected labels 0..{CLASSES[name] - 1}, found {least}..{most}; "
            "save the map with one number per class, not with its colours."
        )
    return labels.astype(np.uint8)


def _need_size(path: Path, labels: NDArray[Any], size_px: tuple[int, int], what: str) -> None:
    if labels.shape != size_px[::-1]:
        raise WrongShape(
            f"{path}: is {labels.shape[1]}x{labels.shape[0]} but the {what} is "
            f"{size_px[0]}x{size_px[1]}; draw the labels at full size, and say in session.json "
            "(labels_on) on which photograph."
        )


def _carried(
    labels: NDArray[np.uint8], source: RectifiedView, view: RectifiedView
) -> NDArray[np.uint8]:
    """Labels of one rectified view, mapped to another view of the same camera."""
    out = np.zeros(view.camera.size_px[::-1], np.uint8)
    for start in range(0, len(out), _BAND):
        rows = slice(start, start + _BAND)
        # Through the raw image, which is exact even if the two views have different lens models.
        found = source.from_raw(view.to_raw(view.grid(rows)))
        take_nearest(labels, found[..., 0], found[..., 1], out[rows])
    return out
