"""Videos: colour as H.264, depth as lossless 16-bit FFV1; any frame without decoding all of them.

    with VideoReader("cam_00_rgb.mp4") as video:
        len(video), video.size_px, video.frame(40)

`read_video_frame` and `read_depth_frame` keep the last videos open, so frames that are read one
after the other cost one decoded frame each. `_video_writing` has the writers.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DepthgaugeError, Misuse, TooLarge
from depthgauge.io._files import MAX_PIXELS, AnyPath, check_size, opened
from depthgauge.io._video_writing import DepthWriter as DepthWriter
from depthgauge.io._video_writing import VideoWriter as VideoWriter
from depthgauge.io._video_writing import depth_scale as depth_scale
from depthgauge.io._video_writing import import_av as import_av
from depthgauge.types import Map

DEFAULT_SCALE_M = 0.1
"""Metres per code of a depth video without a scale in its tags, as the StereoGenBench release."""
NO_DEPTH = (0, 65535)
"""Codes of a depth video that mean missing: nothing there, and too far to be stored."""
SCALE_TAGS = ("depth_scale_m", "depth_scale", "scale_m", "scale")
"""Tags that may say the scale, the first one is ours; upper and lower case are the same."""
_DEPTH_FORMATS = ("gray16le", "gray16be")
_MOST_FRAMES = 1 << 20
_MOST_OPEN = 16
"""Videos that a thread keeps open: six cameras with colour and depth are twelve."""
_MOST_AHEAD = 8
"""A frame at most this far ahead is reached by decoding on, not by seeking; where every frame is a
key frame, as in depth, only the next one is."""


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What the header of a video says."""

    frames: int
    size_px: tuple[int, int]
    """Width and height."""
    fps: float
    codec: str
    pixel_format: str
    tags: Mapping[str, str]
    """Names are in lower case."""

    @property
    def scale_m(self) -> float:
        """Metres per code of a depth video; `DEFAULT_SCALE_M` if no tag says it.

        Raises:
            BadFile: The tag is not a positive number.
        """
        for tag in SCALE_TAGS:
            if tag in self.tags:
                with suppress(ValueError):
                    if 0 < (found := float(self.tags[tag])) < 1e6:
                        return found
                raise BadFile(f"its tag {tag} is {self.tags[tag]!r}, not a scale in metres")
        return DEFAULT_SCALE_M


class VideoReader:
    """One open video. Not for several threads at once.

    Frames are decoded from the closest key frame before them, or onwards from the last one, and
    none of them is kept.

    Args:
        path: The file.
        limit: The most pixels a frame may have.

    Raises:
        BadFile: It is not a video, is damaged, or does not say how many frames it has.
        MissingExtra: PyAV is not installed.
    """

    def __init__(self, path: AnyPath, limit: int = MAX_PIXELS) -> None:
        self.path = path
        self._next = 0
        """The frame that decoding on would give."""
        self._decoder: Iterator[Any] | None = None
        self._av = import_av()
        with opened(path):  # a folder or a missing file gets our sentence, not ffmpeg's
            pass
        with self._watched("opened"):
            self._container = self._av.open(os.fspath(path))
        try:
            self._stream = self._video_stream()
            self.info = self._read_info(limit)
        except BaseException:
            self._container.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._decoder = None
        self._container.close()

    def __len__(self) -> int:
        """The number of frames that the header promises; `check` counts them."""
        return self.info.frames

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self.info.size_px

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """All frames in order, each decoded once."""
        for index in range(len(self)):
            yield self.frame(index)

    def frame(self, index: int) -> NDArray[Any]:
        """One frame: (H, W, 3) uint8 of colour, (H, W) uint16 codes of 16-bit grey.

        Raises:
            BadFile: The frame is damaged or missing; the sentence names the file and the frame.
            Misuse: There is no such frame.
        """
        if not -len(self) <= index < len(self):
            raise Misuse(f"{self.path}: there is no frame {index}, only {len(self)} frames.")
        index %= len(self)
        found = self._decoded(index)
        if (found.width, found.height) != self.size_px or found.is_corrupt:
            raise BadFile(f"{self.path}: frame {index} is damaged; get the file again")
        if self.info.pixel_format in _DEPTH_FORMATS:
            return np.asarray(found.to_ndarray(format="gray16le"), np.uint16)
        return np.asarray(found.to_ndarray(format="rgb24"), np.uint8)

    def depth(self, index: int) -> Map:
        """One frame of a depth video in metres; NaN for the codes `NO_DEPTH`.

        Raises:
            BadFile: It is not a video of 16-bit grey, or the frame is damaged or missing.
        """
        if self.info.pixel_format not in _DEPTH_FORMATS:
            raise BadFile(
                f"{self.path}: depth must be 16-bit grey, found {self.info.pixel_format}; it was "
                "encoded with loss, write it again as FFV1 gray16le"
            )
        try:
            scale_m = self.info.scale_m
        except BadFile as error:
            raise BadFile(f"{self.path}: {error}") from None
        codes = self.frame(index)
        depth = (codes * np.float64(scale_m)).astype(np.float32)
        depth[(codes == NO_DEPTH[0]) | (codes == NO_DEPTH[1])] = np.nan
        return depth

    def check(self) -> None:
        """Reads the whole file, without decoding it, and counts its frames.

        Raises:
            BadFile: It has fewer or more frames than its header promises: it is truncated.
        """
        self._decoder = None
        with self._watched("read"):
            self._container.seek(0, stream=self._stream)
            packets = self._container.demux(self._stream)
            count = sum(packet.size > 0 for packet in packets)
        if count != len(self):
            raise BadFile(
                f"{self.path}: promises {len(self)} frames but has {count}; it is truncated or "
                "damaged, get it again"
            )

    # --- inside ----------------------------------------------------------------------------------

    def _decoded(self, index: int) -> Any:
        rate = Fraction(self._stream.average_rate)
        start = Fraction(self._stream.start_time or 0) * self._stream.time_base
        wanted = start + index / rate
        with self._watched(f"decoded at frame {index}"):
            ahead = 0 if self.info.pixel_format in _DEPTH_FORMATS else _MOST_AHEAD
            if self._decoder is None or not self._next <= index <= self._next + ahead:
                self._seek(wanted + Fraction(1, 4) / rate)
            decoder, self._decoder = self._decoder, None  # what fails is not used again
            assert decoder is not None
            for found in decoder:
                time = Fraction(found.pts or 0) * found.time_base
                if time >= wanted - Fraction(1, 2) / rate:
                    break
            else:
                raise BadFile(f"{self.path}: ends before frame {index}; it is truncated")
        if time >= wanted + Fraction(1, 2) / rate:
            raise BadFile(f"{self.path}: has no frame {index}; it is damaged, get it again")
        self._decoder, self._next = decoder, index + 1
        return found

    def _seek(self, time: Fraction) -> None:
        self._container.seek(int(time / self._stream.time_base), stream=self._stream)
        self._decoder = self._container.decode(self._stream)

    def _video_stream(self) -> Any:
        stream = next(iter(self._container.streams.video), None)
        if stream is None or stream.codec_context is None:
            raise BadFile(f"{self.path}: holds no video; it is truncated or of another kind")
        # One thread: what decoders report comes from the thread that called them, and workers
        # are processes. Damage is an error, not something to conceal.
        stream.codec_context.thread_count = 1
        stream.codec_context.options = {"err_detect": "crccheck+bitstream+buffer+explode"}
        return stream

    def _read_info(self, limit: int) -> VideoInfo:
        stream, context = self._stream, self._stream.codec_context
        width, height = int(context.width), int(context.height)
        check_size(self.path, (height, width, 3), limit)
        if not stream.average_rate:
            raise BadFile(f"{self.path}: does not say how many frames a second it has")
        tags = {**self._container.metadata, **stream.metadata}
        return VideoInfo(
            self._promised(),
            (width, height),
            float(stream.average_rate),
            context.name,
            context.pix_fmt or "",
            {str(name).lower(): str(value) for name, value in tags.items()},
        )

    def _promised(self) -> int:
        """The number of frames by the header: as such, or from the duration."""
        stream = self._stream
        seconds = None
        if stream.duration:
            seconds = Fraction(stream.duration) * stream.time_base
        elif self._container.duration:
            start = Fraction(stream.start_time or 0) * stream.time_base
            seconds = Fraction(self._container.duration, self._av.time_base) - start
        count = int(stream.frames) or round((seconds or 0) * Fraction(stream.average_rate))
        if not 0 < count <= _MOST_FRAMES:
            raise BadFile(
                f"{self.path}: its header promises {count} frames; it was not finished or is "
                "damaged, get it again"
            )
        return count

    @contextmanager
    def _watched(self, what: str) -> Iterator[None]:
        """Turns what ffmpeg raises, or only reports, into one sentence."""
        before = self._av.logging.get_level()
        self._av.logging.set_level(self._av.logging.ERROR)
        try:
            with self._av.logging.Capture() as reported:
                yield
        except (DepthgaugeError, GeneratorExit):
            raise
        except MemoryError:
            raise TooLarge(f"{self.path}: does not fit in memory") from None
        except Exception as error:
            reason = " ".join(str(error).split())[:120]
            raise BadFile(f"{self.path}: cannot be {what}: {reason}") from None
        finally:
            self._av.logging.set_level(before)
        # FFV1 only reports that a checksum is wrong, and returns the frame.
        if damage := [text for level, _, text in reported if level <= self._av.logging.ERROR]:
            raise BadFile(f"{self.path}: cannot be {what}: {' '.join(damage[0].split())[:120]}")


class _OpenVideos(threading.local):
    """The videos that a thread used last."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.readers: OrderedDict[tuple[str, int, int], VideoReader] = OrderedDict()

    def reader(self, path: Path) -> VideoReader:
        if self.process != os.getpid():  # decoders do not survive a fork
            self.__init__()  # type: ignore[misc]  # everything begins anew
        with opened(path) as file:
            state = os.fstat(file.fileno())
        key = (os.path.abspath(path), state.st_mtime_ns, state.st_size)
        if key not in self.readers:
            self.readers[key] = VideoReader(path)
            while len(self.readers) > _MOST_OPEN:
                self.readers.popitem(last=False)[1].close()
        self.readers.move_to_end(key)
        return self.readers[key]


_OPEN = _OpenVideos()


def video_info(path: AnyPath) -> VideoInfo:
    """What the header of a video says.

    Raises:
        BadFile: It is not a video, or does not say how many frames it has.
        MissingExtra: PyAV is not installed.
    """
    return _OPEN.reader(Path(path)).info


def read_video_frame(path: AnyPath, index: int) -> NDArray[np.uint8]:
    """A frame of a colour video, (H, W, 3) RGB.

    Raises:
        BadFile: It is not a video of colours, or the frame is damaged or missing.
    """
    frame = _OPEN.reader(Path(path)).frame(index)
    if frame.ndim != 3:
        raise BadFile(f"{path}: is a video of 16-bit grey where colours are expected")
    return frame


def read_depth_frame(path: AnyPath, index: int) -> Map:
    """A frame of a depth video in metres, NaN where there is none.

    Raises:
        BadFile: It is not a video of 16-bit grey, or the frame is damaged or missing.
    """
    return _OPEN.reader(Path(path)).depth(index)
