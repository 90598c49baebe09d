"""Semi-global matching between two views of a light field: the stereo baseline."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from depthgauge.errors import Unavailable
from depthgauge.methods import sgbm
from depthgauge.methods._images import as_bytes
from depthgauge.methods._light_field.views import LightField, LightFieldOptions, light_field_of
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods._stereo import Odd
from depthgauge.types import Inputs, Map


class LfPairOptions(LightFieldOptions):
    """Options of `lf-pair`; those of the matcher are the same as for `sgbm`."""

    block_size: Odd = Field(default=5, ge=1)
    """Width and height of the compared blocks, in px; odd."""
    mode: Literal["sgbm", "hh", "3way", "hh4"] = "hh"
    """Number of directions to sum over: 5, 8 (`hh`), 3 (`3way`, fastest) or 4 (`hh4`)."""
    uniqueness: int = Field(default=10, ge=0, le=100)
    """By how many percent the best match must beat the second; else there is no estimate."""
    fill: Literal["none", "background", "scanline"] = "none"
    """How pixels without an estimate are filled: not at all, with the smaller neighbour in the row,
    or by linear interpolation in the row."""


SPEC = MethodSpec(
    id="lf-pair",
    title="Semi-global block matching (OpenCV) of two views of a light field",
    quantities=("disparity",),
    needs=("views",),
    cite="Hirschmueller 2008",
    options=LfPairOptions,
)


def estimate(inputs: Inputs, options: LfPairOptions) -> Map:
    """Disparity of the centre view, in px per step.

    The centre view is matched with the outermost view to its right (to its left in a grid of two
    columns), and the disparity is divided by the number of steps between them.
    """
    field = light_field_of(inputs, options)
    centre, other, steps = _pair(field)
    # A view to the left is a view to the right when both are mirrored.
    side = 1 if steps > 0 else -1
    low, high = field.search
    pair = Inputs(
        {
            "left_image": np.ascontiguousarray(centre[:, ::side]),
            "right_image": np.ascontiguousarray(other[:, ::side]),
            "disparity_range": (low * abs(steps), high * abs(steps)),
        }
    )
    chosen = sgbm.SgbmOptions(**options.model_dump(exclude={"low", "high"}))
    matched = sgbm.estimate(pair, chosen) / np.float32(abs(steps))
    return np.ascontiguousarray(matched[:, ::side])


def _pair(field: LightField) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
    """The centre view, the other one, and the steps from one to the other."""
    row, column = field.middle
    columns = field.views.shape[1]
    if columns < 2:
        raise Unavailable(
            f"lf-pair needs two views in a row; the light field has {field.views.shape[0]}x1."
        )
    last = columns - 1 if column < columns - 1 else 0
    centre, other = (as_bytes(np.squeeze(field.views[row, c])) for c in (column, last))
    return centre, other, last - column
