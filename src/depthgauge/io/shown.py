"""Pictures that are estimates: as they are shown, from 0 to 1, whatever the file stores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.io import exr, npy, npz, pfm
from depthgauge.io._files import AnyPath
from depthgauge.io._values import Request, check_channels
from depthgauge.io.image import read_image
from depthgauge.types import Map

_FLOATS = {"npy": npy.read, "npz": npz.read, "pfm": pfm.read, "exr": exr.read}


def shown(values: NDArray[Any]) -> Map:
    """The values of a picture: codes of 8 and 16 bits become 0 to 1, floats stay.

    >>> shown(np.array([0, 255], np.uint8))
    array([0., 1.], dtype=float32)
    """
    most = {np.dtype(np.uint8): 255, np.dtype(np.uint16): 65535}.get(values.dtype, 1)
    return np.asarray(values, np.float32) / np.float32(most)


def shown_picture(path: AnyPath, kind: str, request: Request) -> Map:
    """A picture in a file; a grey one has three equal channels.

    Raises:
        BadFile: It is damaged, or has another number of channels.
    """
    if kind == "npy" and npy.dtype(path, request).kind == "u":
        values = shown(npy.read_array(path, request.limit))
    elif kind in _FLOATS:
        values = _FLOATS[kind](path, request)
    else:
        values = shown(read_image(path, request.limit))
    if values.ndim == 2:
        values = np.repeat(values[..., None], 3, axis=2)
    check_channels(path, values.shape, request.quantity)
    return np.ascontiguousarray(values)
