"""Label maps as 16-bit PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import DoesNotFit

_MOST = 65535


def write_labels(path: Path, labels: NDArray[Any]) -> None:
    """Writes integers from 0 to 65535.

    Raises:
        DoesNotFit: There are other values.
    """
    if labels.size and (labels.min() < 0 or labels.max() > _MOST):
        raise DoesNotFit(
            f"{path}: labels are {labels.min()}..{labels.max()}, "
            f"a 16-bit PNG holds 0..{_MOST}; renumber them."
        )
    io.write_image(path, labels.astype(np.uint16))
