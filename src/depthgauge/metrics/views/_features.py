"""What describes a set of pictures or videos: numbers that need no network, or those of one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io.weights import open_network
from depthgauge.metrics.views._alexnet import layers_of, load_alexnet
from depthgauge.metrics.views._frames import Picture

Features = NDArray[np.float64]
_SIDE, _VIDEO_SIDE, _ALEX_SIDE = 128, 64, 224
_LEVELS = 3
_TEXTURE_GAIN = 4.0
"""Differences of neighbours are about a quarter of differences between places."""
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


COUNTS = {"filters": 54, "alex": 256, "motion": 78}
"""How many numbers the extractors of our own give."""


def feature_count(extractor: str) -> int:
    """How many numbers describe one picture or video.

    Raises:
        Unavailable: The network is not there.
        BadFile: It does not say how many numbers it gives.
    """
    if extractor in COUNTS:
        return COUNTS[extractor]
    shape = open_network(extractor).get_outputs()[0].shape[1:]
    if not shape or not all(isinstance(n, int) for n in shape):
        raise BadFile(f"{extractor}: its first output has no fixed number of features.")
    return math.prod(shape)


def resized(picture: Picture, width: int, height: int) -> Picture:
    """A picture at another size, averaged where it shrinks."""
    import cv2

    found: Picture = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return found


def picture_features(picture: Picture, extractor: str) -> Features:
    """The numbers that describe a picture.

    Args:
        picture: Of any size.
        extractor: `filters`: 54 numbers without a network. `alex`: the 256 channels of AlexNet's
            last layer, averaged, at 224 x 224 px. `onnx-...`: what a network gives.

    Raises:
        Unavailable: The network is not there.
    """
    if extractor == "filters":
        return filter_features(picture)
    if extractor == "alex":
        network = load_alexnet()
        last = layers_of(resized(picture, _ALEX_SIDE, _ALEX_SIDE), network)[-1]
        return np.asarray(last.mean(axis=(0, 1), dtype=np.float64))
    return _by_network(picture[None], extractor)


def filter_features(picture: Picture, side: int = _SIDE) -> Features:
    """Colours of the four quarters, and strengths of differences at three scales, times 100.

    At 128 x 128 px: mean and deviation of luma, blue - luma and red - luma in each quarter (24
    numbers); then, of the luma at 128, 64 and 32 px, mean absolute value and deviation of the
    differences along x, y and both diagonals and of the Laplacian, times 4 (30 numbers).
    """
    small = resized(picture, side, side)
    luma = small @ _LUMA
    planes = np.stack([luma, small[..., 2] - luma, small[..., 0] - luma], axis=2)
    quarters = _quarters(planes.astype(np.float64))
    layout = np.concatenate([quarters.mean(axis=1), quarters.std(axis=1)]).ravel()
    texture = [
        _TEXTURE_GAIN * number
        for level in _pyramid(luma.astype(np.float64))
        for response in _differences(level)
        for number in (np.abs(response).mean(), response.std())
    ]
    return 100.0 * np.concatenate([layout, texture])


def _quarters(planes: Features) -> Features:
    """(4, pixels, channels)."""
    n, channels = planes.shape[0] // 2, planes.shape[2]
    parts = planes.reshape(2, n, 2, n, channels).transpose(0, 2, 1, 3, 4)
    return parts.reshape(4, n * n, channels)


def _pyramid(luma: Features) -> list[Features]:
    """Half as large from level to level, by means of four."""
    levels = [luma]
    for _ in range(_LEVELS - 1):
        n = levels[-1].shape[0] // 2
        levels.append(levels[-1].reshape(n, 2, n, 2).mean(axis=(1, 3)))
    return levels


def _differences(v: Features) -> list[Features]:
    inner = v[1:-1, 1:-1]
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    return [
        v[:, 1:] - v[:, :-1],
        v[1:] - v[:-1],
        v[1:, 1:] - v[:-1, :-1],
        v[1:, :-1] - v[:-1, 1:],
        inner - around / 4,
    ]


def frame_for_video(picture: Picture, extractor: str) -> Picture:
    """A frame as small as the extractor of videos takes it, so that a window is little memory."""
    if extractor == "motion":
        return resized(picture, _VIDEO_SIDE, _VIDEO_SIDE)
    shape = open_network(extractor).get_inputs()[0].shape
    if len(shape) != 5 or not all(isinstance(n, int) for n in shape[1:]):
        raise BadFile(f"{extractor}: a network of videos has one input (1, 3, frames, H, W).")
    return resized(picture, shape[4], shape[3])


def video_features(frames: NDArray[np.float32], extractor: str) -> Features:
    """The numbers that describe a short video (frames, H, W, 3) of `frame_for_video`.

    Args:
        frames: In their order.
        extractor: `motion`: 78 numbers without a network. `onnx-...`: what a network gives.
    """
    if extractor == "motion":
        return motion_features(frames)
    return _by_network(frames, extractor, video=True)


def motion_features(frames: NDArray[np.float32]) -> Features:
    """The mean of the frames' own numbers, and how much quarters change from frame to frame.

    The numbers of `filter_features` at 64 px, averaged over time (54); then, of the luma at 64, 32
    and 16 px, mean absolute first and second differences over time in each quarter, times 400 (24).
    """
    own = np.mean([filter_features(frame, _VIDEO_SIDE) for frame in frames], axis=0)
    levels = [np.stack(level) for level in zip(*(_pyramid(f @ _LUMA) for f in frames), strict=True)]
    changes = []
    for level in levels:
        for order in (1, 2):
            steps = np.abs(np.diff(level.astype(np.float64), n=order, axis=0))
            mean = steps.mean(axis=0) if len(steps) else np.zeros(level.shape[1:])
            changes.append(_quarters(mean[..., None]).mean(axis=(1, 2)))
    return np.concatenate([own, 100.0 * _TEXTURE_GAIN * np.concatenate(changes)])


def _by_network(frames: NDArray[np.float32], name: str, *, video: bool = False) -> Features:
    """A vector by a network of pictures (1, 3, H, W) or videos (1, 3, T, H, W) from 0 to 1."""
    network = open_network(name)
    side = network.get_inputs()[0]
    if len(side.shape) != (5 if video else 4):
        wanted = "videos (1, 3, frames, H, W)" if video else "pictures (1, 3, H, W)"
        raise BadFile(f"{name}: takes {len(side.shape)} axes, but {wanted} are given.")
    if video and side.shape[2] != len(frames):
        raise BadFile(f"{name}: takes {side.shape[2]} frames; say window = {side.shape[2]}.")
    if not video:
        height, width = (
            asked if isinstance(asked, int) else own
            for asked, own in zip(side.shape[2:], frames.shape[1:3], strict=True)
        )
        frames = resized(frames[0], width, height)[None]
    given = frames.transpose(3, 0, 1, 2)[None] if video else frames.transpose(0, 3, 1, 2)
    found = network.run(None, {side.name: np.ascontiguousarray(given, np.float32)})[0]
    return np.asarray(found, np.float64).ravel()
