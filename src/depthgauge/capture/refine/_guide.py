"""The image whose edges the jumps of a refined map follow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.resample import resample
from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.rectified import RectifiedView
from depthgauge.sessions import Session


def make_guide(
    session: Session, work: Path, camera: str, view: RectifiedView, kind: str
) -> NDArray[np.float32]:
    """The rectified guide of one camera, 0..1, (H, W, C).

    Args:
        session: The session.
        work: Its work folder.
        camera: `L` or `R`.
        view: That camera's view of the balanced pair.
        kind: `patterns` (the mean of those that `spacetime` used) or `passive` (the first one).

    Raises:
        BadData: There are no such images, or they are not of the camera's size.
    """
    images = session.passive_images(camera)
    if kind == "patterns":
        images = _used(work, session.pattern_images(camera))
    if not images:
        raise BadData(
            f"{session.folder}: there are no {kind} images of camera {camera} to guide the "
            "refinement; choose the other guide."
        )
    paths = list(images.values())
    # Rectification is linear: the mean is taken first, and brought to the view once.
    mean = mean_image(paths if kind == "patterns" else paths[:1])
    try:
        return np.asarray(resample(view, mean, how="linear"), np.float32)
    except WrongShape as error:
        raise BadData(f"{paths[0]}: {error}.") from None


def mean_image(paths: list[Path]) -> NDArray[np.float32]:
    """The mean of pictures of one size, 0..1, (H, W, 3).

    Raises:
        BadData: One has another size.
    """
    total: NDArray[np.float32] = np.zeros((1, 1, 3), np.float32)
    for number, path in enumerate(paths):
        image = io.read_image(path)
        scale = np.float32(255 if image.dtype == np.uint8 else 1)
        pixels: NDArray[np.float32] = image.astype(np.float32) / scale
        pixels = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
        if number == 0:
            total = pixels
        elif pixels.shape != total.shape:
            raise BadData(
                f"{path}: is {pixels.shape[1]}x{pixels.shape[0]}, expected the size of "
                f"{paths[0].name}, {total.shape[1]}x{total.shape[0]}."
            )
        else:
            total += pixels
    return np.clip(total / len(paths), 0, 1)


def _used(work: Path, images: dict[str, Path]) -> dict[str, Path]:
    """The patterns that were matched; all where that was not written down."""
    try:
        text = (work / "spacetime" / "patterns.json").read_text(encoding="utf-8")
        used = {str(name) for name in json.loads(text)["used"]}
    except (OSError, KeyError, TypeError, ValueError):
        return images
    return {name: path for name, path in images.items() if name in used} or images
