"""Made pictures for the gallery."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from depthgauge.report.pictures.colours import paint
from depthgauge.report.pictures.encode import encode


def write(folder: Path) -> None:
    """Writes everything that the pages show."""
    rows, columns = np.mgrid[:120, :180].astype(np.float32)
    errors = np.abs(np.sin(rows / 17) * np.cos(columns / 23)).astype(np.float32)
    picture = paint(errors, np.ones(errors.shape, bool), "magma", 0.0, 1.0)
    (folder / "cell.webp").write_bytes(encode(picture, lossless=True))
