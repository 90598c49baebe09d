"""Regions from clicks by a segment-anything network that the operator brings, as ONNX files.

The decoder has the inputs and outputs of the one that the network's authors export:
`image_embeddings`, `point_coords`, `point_labels`, `mask_input`, `has_mask_input`, `orig_im_size`;
`masks`, `iou_predictions`. The encoder has one input, of which two kinds are known: (1, 3, S, S),
normalised and padded at the right and at the bottom, or (H, W, 3) with values from 0 to 255 that it
normalises itself; its output are the embeddings.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.masks.edges import Colours, parts_at, snapped
from depthgauge.capture.masks.proposals import Click, Window, check_clicks, places_in
from depthgauge.capture.masks.shapes import Region
from depthgauge.errors import BadFile, MissingExtra

_LONG_PX = 1024
_MEAN = np.array([123.675, 116.28, 103.53], np.float32)
_SPREAD = np.array([58.395, 57.12, 57.375], np.float32)
_LOW_PX = 256
_RIM_PX = 2
"""How far a rim may be off, in px of the longer side of 1024: masks are enlarged four times."""
_DECODER_INPUTS = {
    *("image_embeddings", "point_coords", "point_labels"),
    *("mask_input", "has_mask_input", "orig_im_size"),
}
_PADDING = -1.0
"""The label of a point that stands for no box."""


@dataclass
class SegmentAnything:
    """The two networks; what the encoder says about the last window is kept."""

    encoder: Any
    decoder: Any
    _kept: tuple[Hashable, NDArray[np.float32]] | None = None
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def segment(
        self,
        image: Colours,
        clicks: Sequence[Click],
        window: Window | None = None,
        key: Hashable = None,
    ) -> Region:
        """What some clicks mean.

        Args:
            image: The picture.
            clicks: At least one wanted.
            window: The part of the picture in which it stays.
            key: A name of the picture; with one, further clicks in a window are answered at once.

        Raises:
            BadData: No click is wanted, or one is outside.
            BadFile: The networks do not fit together.
        """
        import cv2

        part = window or Window.of(image)
        at = places_in(check_clicks(clicks), part)
        wanted = np.array([c.wanted for c in clicks])
        full = part.cut(image)
        scale = _LONG_PX / max(part.width, part.height)
        size = max(1, round(part.width * scale)), max(1, round(part.height * scale))
        with self._alone:
            if self._kept is None or key is None or self._kept[0] != (key, part):
                small = cv2.resize(full, size, interpolation=cv2.INTER_AREA)
                self._kept = (key, part), self._encoded(small)
            embeddings = self._kept[1]
        places = (at + 0.5) * (np.array(size) / (part.width, part.height)) - 0.5
        logits = self._decoded(embeddings, places, wanted, size)
        shares = cv2.resize(
            np.asarray(logits, np.float32),
            (part.width, part.height),
            interpolation=cv2.INTER_LINEAR,
        )
        inside = snapped(full, np.asarray(shares > 0), max(_RIM_PX, math.ceil(_RIM_PX / scale)))
        inside[at[:, 1], at[:, 0]] = wanted
        return part.region(parts_at(inside, at[wanted]))

    def _encoded(self, small: Colours) -> NDArray[np.float32]:
        (given,) = self.encoder.get_inputs()
        pixels = small.astype(np.float32)
        if len(given.shape) == 4:
            side = given.shape[2] if isinstance(given.shape[2], int) else _LONG_PX
            pixels = _padded((pixels - _MEAN) / _SPREAD, side, side).transpose(2, 0, 1)[None]
        else:
            high, wide = given.shape[:2]
            if isinstance(high, int) and isinstance(wide, int):
                pixels = _padded(pixels, high, wide)
        found = self._run(self.encoder, {given.name: np.ascontiguousarray(pixels)})
        return np.asarray(found[0], np.float32)

    def _decoded(
        self,
        embeddings: NDArray[np.float32],
        places: NDArray[np.float64],
        wanted: NDArray[np.bool_],
        size: tuple[int, int],
    ) -> NDArray[np.float32]:
        points = np.concatenate([places, [[0.0, 0.0]]])[None]
        labels = np.append(wanted.astype(np.float32), _PADDING)[None]
        given = {
            "image_embeddings": embeddings,
            "point_coords": points.astype(np.float32),
            "point_labels": labels.astype(np.float32),
            "mask_input": np.zeros((1, 1, _LOW_PX, _LOW_PX), np.float32),
            "has_mask_input": np.zeros(1, np.float32),
            "orig_im_size": np.array(size[::-1], np.float32),
        }
        names = [output.name for output in self.decoder.get_outputs()]
        found = dict(zip(names, self._run(self.decoder, given), strict=True))
        masks = np.asarray(found["masks"])[0]
        best = int(np.argmax(np.asarray(found["iou_predictions"]).ravel()[: len(masks)]))
        return np.asarray(masks[best], np.float32)

    def _run(self, network: Any, given: dict[str, NDArray[np.float32]]) -> list[Any]:
        try:
            return list(network.run(None, given))
        except Exception as error:  # its exceptions have no common class
            line = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BadFile(
                f"the segment-anything networks cannot be used on this picture: {line:.200}"
            ) from error


def open_networks(encoder: Path, decoder: Path) -> SegmentAnything:
    """The two networks.

    Raises:
        MissingExtra: onnxruntime is not installed.
        BadFile: A file is missing, or is no such network.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra(
            "segment-anything networks need onnxruntime; say: pip install onnxruntime"
        ) from error
    opened = []
    for path in (encoder, decoder):
        if not path.is_file():
            raise BadFile(f"{path}: there is no such file.")
        try:
            providers = ["CPUExecutionProvider"]
            opened.append(onnxruntime.InferenceSession(str(path), providers=providers))
        except Exception as error:  # its exceptions have no common class
            raise BadFile(f"{path}: is no ONNX file that onnxruntime reads.") from error
    _check(opened[0], encoder, opened[1], decoder)
    return SegmentAnything(opened[0], opened[1])


def _check(encoder: Any, encoder_path: Path, decoder: Any, decoder_path: Path) -> None:
    inputs = encoder.get_inputs()
    if len(inputs) != 1 or len(inputs[0].shape) not in (3, 4):
        shapes = [list(each.shape) for each in inputs]
        raise BadFile(
            f"{encoder_path}: is no encoder: expected one input (1, 3, S, S) or (H, W, 3), "
            f"found {shapes}."
        )
    found = {each.name for each in decoder.get_inputs()}
    if found != _DECODER_INPUTS:
        raise BadFile(
            f"{decoder_path}: is no decoder: expected the inputs "
            f"{', '.join(sorted(_DECODER_INPUTS))}, found {', '.join(sorted(found))}."
        )
    outputs = {each.name for each in decoder.get_outputs()}
    if not {"masks", "iou_predictions"} <= outputs:
        raise BadFile(f"{decoder_path}: is no decoder: it has no masks and iou_predictions.")


def _padded(pixels: NDArray[np.float32], high: int, wide: int) -> NDArray[np.float32]:
    out = np.zeros((high, wide, 3), np.float32)
    kept = pixels[:high, :wide]
    out[: kept.shape[0], : kept.shape[1]] = kept
    return out
