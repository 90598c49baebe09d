"""The photographs of the painted scene, band by band of rows; a killed session goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.synth.sets.capture_session import _painted
from depthgauge.synth.sets.capture_session._folder import PARTS
from depthgauge.synth.sets.capture_session._sensor import developed, key
from depthgauge.types import Camera

GAINS = {"L": 1.0, "R": 0.97}
"""Two cameras of one kind are never equally sensitive."""


def write_patterns(
    folder: Path,
    name: str,
    camera: Camera,
    lighting: _painted.Lighting,
    *,
    seed: int,
    side: int,
    done: Callable[[float], None],
) -> None:
    """Writes pattern/<name>/<t>.png of all patterns that are not there.

    Args:
        folder: Of the session.
        name: Of the camera.
        camera: Exact.
        lighting: Exposed.
        seed: Of the sensor's noise.
        side: Samples of a pixel along each side.
        done: Told the share that is done.
    """
    target = folder / "pattern" / name
    target.mkdir(parents=True, exist_ok=True)
    files = [target / f"{number:03d}.png" for number in range(lighting.shown.shape[3])]
    missing = [number for number, file in enumerate(files) if not file.is_file()]
    if not missing:
        return
    with _Rows(folder / PARTS / name, missing, camera.size_px) as rows:
        bands = _painted.row_bands(camera, side)
        light = _dimmed(lighting, rows.numbers, GAINS[name])
        for band, seen in _painted.photographed(light, camera, side, bands[rows.bands :]):
            first = band.start * camera.size_px[0]
            for k, number in enumerate(rows.numbers):
                picture = developed(seen[:, k], key(seed, "pattern", name, number), first)
                rows.pixels[k, band.start : band.stop] = picture.reshape(len(band), -1, 3)
            rows.finish_band()
            done(0.9 * rows.bands / len(bands))
        for k, number in enumerate(rows.numbers):
            io.write_image(files[number], np.asarray(rows.pixels[k]))
            done(0.9 + 0.1 * (k + 1) / len(rows.numbers))


def _dimmed(lighting: _painted.Lighting, numbers: list[int], gain: float) -> _painted.Lighting:
    """Only some of the patterns, in a camera of its own sensitivity."""
    shown = lighting.shown
    if numbers != list(range(shown.shape[3])):
        shown = np.ascontiguousarray(shown[..., numbers, :])
    full = gain * lighting.gain
    return _painted.Lighting(lighting.solid, lighting.projectors, shown, lighting.ambient, full)


class _Rows:
    """Pictures that grow on disk, so that their number and size do not matter to the memory."""

    pixels: NDArray[np.uint8]
    """(K, H, W, 3)."""

    def __init__(self, stem: Path, numbers: list[int], size_px: tuple[int, int]) -> None:
        self._data, self._record = stem.with_suffix(".raw"), stem.with_suffix(".json")
        self.numbers, self.bands = numbers, 0
        self._size = size_px

    def __enter__(self) -> _Rows:
        self._data.parent.mkdir(parents=True, exist_ok=True)
        known = self._known()
        if known is not None and set(self.numbers) <= set(known["numbers"]):
            self.numbers, self.bands = list(known["numbers"]), int(known["bands"])
        mode = "r+" if self.bands else "w+"
        width, height = self._size
        shape = (len(self.numbers), height, width, 3)
        self.pixels = np.memmap(self._data, np.uint8, mode, shape=shape)  # type: ignore[call-overload]  # the mode is one of the literals
        return self

    def finish_band(self) -> None:
        """Says that one more band is on disk."""
        self.pixels.flush()  # type: ignore[attr-defined]  # a memmap
        self.bands += 1
        io.write_text(
            self._record, json.dumps({"numbers": self.numbers, "bands": self.bands}) + "\n"
        )

    def _known(self) -> dict[str, Any] | None:
        try:
            known = json.loads(self._record.read_text(encoding="utf-8"))
            width, height = self._size
            size = len(known["numbers"]) * height * width * 3
            return dict(known) if self._data.stat().st_size == size else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def __exit__(self, kind: object, *_: object) -> None:
        del self.pixels
        if kind is None:
            self._data.unlink(missing_ok=True)
            self._record.unlink(missing_ok=True)
