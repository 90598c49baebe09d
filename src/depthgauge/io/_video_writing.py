"""Writing of videos, frame by frame: colour as H.264, depth as FFV1."""

from __future__ import annotations

import math
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import CannotWrite, DoesNotFit, MissingExtra, Misuse, WrongShape
from depthgauge.io._files import AnyPath, replacing

GROUP = 8
"""Frames from one key frame to the next: any frame is at most seven decoded frames away."""
QUALITY = 12
"""The constant rate factor of colour: below 18 the loss is hard to see, 0 is no loss."""
_PRESET = "veryfast"
"""How hard x264 tries: three times as fast as its default, for files that are 15 % larger."""
_LARGEST = 65534
"""The largest code of a depth; 65535 means missing to readers."""


def import_av() -> Any:
    """PyAV, which brings its own ffmpeg.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import av
        import av.logging
    except ImportError as error:
        raise MissingExtra("video files need PyAV: pip install 'depthgauge[video]'.") from error
    return av


def depth_scale(farthest_m: float) -> float:
    """The finest scale, of 1, 2 or 5 times a power of ten, that can store depths up to this one.

    >>> depth_scale(6.0), depth_scale(60.0), depth_scale(2000.0)
    (0.0001, 0.001, 0.05)
    """
    if not 0 < farthest_m < math.inf:
        raise Misuse(f"the farthest depth is {farthest_m} m; it must be positive and finite.")
    power = math.floor(math.log10(farthest_m / _LARGEST))
    for step in (1, 2, 5, 10, 20):
        # Parsed from its text: 2 * 10**-4 is not the float closest to 0.0002.
        scale_m = float(f"{step}e{power}")
        if farthest_m <= _LARGEST * scale_m:
            return scale_m
    raise AssertionError("one of the steps above is large enough")


class _Writer:
    """A video that appears under its name when it is complete."""

    def __init__(
        self,
        path: AnyPath,
        size_px: tuple[int, int],
        fps: float,
        codec: tuple[str, str, dict[str, str]],
        tags: dict[str, str],
    ) -> None:
        self.path = path
        self.size_px = size_px
        self.frames = 0
        self._fps = Fraction(fps).limit_denominator(1001)
        self._codec, self._tags = codec, tags
        self._files = ExitStack()
        self._container: Any = None
        self._stream: Any = None

    def __enter__(self) -> Self:
        av = import_av()
        beside = self._files.enter_context(replacing(self.path))
        name, pixel_format, options = self._codec
        try:
            is_mp4 = Path(self.path).suffix.lower() == ".mp4"
            # Without random ids and dates; mp4 drops tags that it does not know unless told to
            # keep them.
            options_of_file = {"fflags": "+bitexact"}
            if is_mp4:
                options_of_file["movflags"] = "use_metadata_tags"
            self._container = av.open(
                str(beside), "w", format="mp4" if is_mp4 else "matroska", options=options_of_file
            )
            # One thread, so that the number of cores does not change the bytes.
            stream = self._container.add_stream(
                name, rate=self._fps, options={"threads": "1", **options}
            )
            stream.width, stream.height = self.size_px
            stream.pix_fmt = pixel_format
            stream.codec_context.thread_count = 1
            self._stream = stream
            self._container.metadata.update(self._tags)
        except (av.error.FFmpegError, ValueError, OSError) as error:
            self._abandon()
            raise CannotWrite(f"{self.path}: cannot be written: {error}") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._abandon(error)
            return
        if not self.frames:
            self._abandon()
            raise CannotWrite(f"{self.path}: a video needs at least one frame, none was added.")
        try:
            self._encode(None)
            self._container.close()
        except BaseException as failure:
            self._files.__exit__(type(failure), failure, None)
            raise
        self._files.close()

    def _abandon(self, error: BaseException | None = None) -> None:
        """Closes and removes what was written so far."""
        if self._container is not None:
            self._container.close()
        failure = error or CannotWrite(f"{self.path}: was given up.")
        try:
            self._files.__exit__(type(failure), failure, None)
        except type(failure):
            return

    def _encode(self, frame: Any) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except (import_av().error.FFmpegError, OSError) as error:
            raise CannotWrite(
                f"{self.path}: frame {self.frames} cannot be written: {error}; check that the disk "
                "has space"
            ) from None

    def _add(self, values: NDArray[Any], layout: str) -> None:
        if self._stream is None:
            raise Misuse(f"{self.path}: add frames inside `with` only.")
        frame = import_av().VideoFrame.from_ndarray(np.ascontiguousarray(values), layout)
        frame.pts, frame.time_base = self.frames, 1 / self._fps
        self._encode(frame)
        self.frames += 1


class VideoWriter(_Writer):
    """Writes a colour video as H.264 (mp4).

        with VideoWriter("cam_00_rgb.mp4", (1280, 1280)) as video:
            video.add(image)

    The file appears when the block ends without an error. Tags of the container record `crf`,
    `preset`, `group` and `chroma`.

    Args:
        path: The file; an existing one is replaced.
        size_px: Width and height.
        fps: Frames per second.
        quality: The constant rate factor, 0 (best) to 51.
        chroma: `420` halves the resolution of colours, which every player and browser can show;
            `444` keeps it, for which few of them have a decoder. Brightness is the same.

    Raises:
        CannotWrite: The file cannot be written.
        MissingExtra: PyAV is not installed.
        Misuse: `420` needs even sizes.
    """

    def __init__(
        self,
        path: AnyPath,
        size_px: tuple[int, int],
        fps: float = 15.0,
        *,
        quality: int = QUALITY,
        chroma: Literal["420", "444"] = "420",
    ) -> None:
        if chroma == "420" and (size_px[0] % 2 or size_px[1] % 2):
            raise Misuse(
                f"{path}: frames of {size_px[0]} x {size_px[1]} px cannot have chroma='420', which "
                "needs even sizes; say chroma='444'."
            )
        options = {"crf": str(quality), "preset": _PRESET}
        options |= {"g": str(GROUP), "bf": "0", "sc_threshold": "0"}
        # Without it, x264's vector code for rate control (mbtree) sometimes gives other bytes for
        # the same frames: in our trials, one of 15 to 300 files.
        options["x264-params"] = "cpu-independent=1"
        # No frame refers to a later one, and key frames come at fixed places.
        tags = {"crf": str(quality), "preset": _PRESET, "group": str(GROUP), "chroma": chroma}
        super().__init__(path, size_px, fps, ("libx264", f"yuv{chroma}p", options), tags)

    def add(self, image: NDArray[np.generic]) -> None:
        """Adds one frame, (H, W, 3) uint8 RGB.

        Raises:
            WrongShape: It has another size or type.
        """
        width, height = self.size_px
        if image.shape != (height, width, 3) or image.dtype != np.uint8:
            raise WrongShape(
                f"{self.path}: frame {self.frames} must be ({height}, {width}, 3) of uint8, found "
                f"{image.shape} of {image.dtype}."
            )
        self._add(image, "rgb24")


class DepthWriter(_Writer):
    """Writes a depth video without loss: FFV1, 16-bit grey (mkv), with a checksum per slice.

        with DepthWriter("cam_00_depth.mkv", (1280, 1280), scale_m=depth_scale(40.0)) as video:
            video.add(depth)

    A code is the depth divided by the scale, rounded, so depth comes back to half a scale. Missing
    depth is code 0. The tag `depth_scale_m` of the container records the scale. The same frames
    give the same bytes.

    Args:
        path: The file; an existing one is replaced.
        size_px: Width and height.
        fps: Frames per second.
        scale_m: Metres per code; `depth_scale` chooses one.

    Raises:
        CannotWrite: The file cannot be written.
        MissingExtra: PyAV is not installed.
    """

    def __init__(
        self, path: AnyPath, size_px: tuple[int, int], fps: float = 15.0, *, scale_m: float = 0.001
    ) -> None:
        if not 0 < scale_m < math.inf:
            raise Misuse(f"{path}: the scale is {scale_m} m; it must be positive and finite.")
        self.scale_m = scale_m
        # A slice has at least one pixel, and there are two by two of them.
        slices = "4" if min(size_px) > 1 else "1"
        options = {"level": "3", "g": "1", "slices": slices, "slicecrc": "1"}
        tags = {"depth_scale_m": repr(float(scale_m)), "missing_code": "0"}
        super().__init__(path, size_px, fps, ("ffv1", "gray16le", options), tags)

    def add(self, depth_m: NDArray[np.generic]) -> None:
        """Adds one frame, (H, W) in metres, NaN where there is no depth.

        Raises:
            DoesNotFit: A depth is infinite, not above 0, or too small or large for the scale.
            WrongShape: It has another size.
        """
        width, height = self.size_px
        if depth_m.shape != (height, width):
            raise WrongShape(
                f"{self.path}: frame {self.frames} must be ({height}, {width}), found "
                f"{depth_m.shape}."
            )
        depth = np.asarray(depth_m, np.float64)
        known = ~np.isnan(depth)
        codes = np.rint(np.where(known, depth, self.scale_m) / self.scale_m)
        if known.any() and not (codes[known].min() >= 1 and codes[known].max() <= _LARGEST):
            raise DoesNotFit(
                f"{self.path}: frame {self.frames} has depths from {depth[known].min():g} to "
                f"{depth[known].max():g} m; a scale of {self.scale_m:g} m holds "
                f"{self.scale_m:g} to {_LARGEST * self.scale_m:g} m; use another scale, and NaN "
                "where there is no depth."
            )
        self._add(np.where(known, codes, 0).astype(np.uint16), "gray16le")
