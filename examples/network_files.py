"""What the example networks share: their weights, their sessions, pictures in and maps out."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.geometry.resizing import resize

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Weights:
    """A file that is not part of this repository."""

    file: str
    variable: str
    """The environment variable that names its folder."""
    source: str
    """Where it can be had."""

    def path(self) -> Path:
        """Its place: the folder that the variable names, else `weights` beside this file."""
        folder = Path(os.environ.get(self.variable) or HERE / "weights")
        found = folder / self.file
        if not found.is_file():
            stop(
                f"no {self.file} in {folder}; get it from {self.source}, and put it there or name "
                f"its folder in the environment variable {self.variable}."
            )
        return found


def stop(sentence: str) -> NoReturn:
    """Ends the program with one sentence on stderr."""
    sys.exit(sentence)


def session(path: Path) -> Any:
    """The network, ready to run on the processor."""
    try:
        import onnxruntime
    except ImportError:
        stop("onnxruntime is not installed in this Python; say: pip install onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # warnings about constants of the graph do not help here
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def read_colour(path: str) -> NDArray[np.uint8]:
    """RGB bytes; a grey picture gets three equal channels."""
    image = io.read_image(Path(path))
    if image.dtype != np.uint8:
        image = np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8)
    return image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)


def shrunk(image: NDArray[Any], width: int, height: int) -> NDArray[Any]:
    """Averaged where it shrinks, linear where it grows."""
    import cv2

    if image.shape[:2] == (height, width):
        return image
    smaller = width <= image.shape[1] and height <= image.shape[0]
    how = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (width, height), interpolation=how))


def write_estimate(
    path: str, values: NDArray[np.float32], size: tuple[int, ...], quantity: str
) -> None:
    """Writes a map at the picture's height and width: nearest, disparities scaled with it."""
    whole = resize(values, (size[0], size[1]), "nearest", quantity)
    io.write_map(Path(path), whole, quantity=quantity)
