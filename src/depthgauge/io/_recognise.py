"""Which format a file has: by its first bytes, else by its name."""

from __future__ import annotations

import os
from pathlib import PurePath

from depthgauge.io._files import AnyPath, opened

_BEGINNINGS = {
    b"\x89PNG": "png",
    b"PIEH": "flo",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
    b"\x76\x2f\x31\x01": "exr",
    b"II*\0": "tiff",
    b"MM\0*": "tiff",
    b"II+\0": "tiff",
    b"MM\0+": "tiff",
    b"\xff\xd8\xff": "jpeg",
    b"Pf": "pfm",
    b"PF": "pfm",
    b"P5": "netpbm",
    b"P6": "netpbm",
    b"ply": "ply",
    b"\x89HDF": "hdf5",
}
_ENDINGS = {
    ".png": "png",
    ".flo": "flo",
    ".dpt": "dpt",
    ".flo5": "hdf5",
    ".dsp5": "hdf5",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".npy": "npy",
    ".npz": "npz",
    ".exr": "exr",
    ".tif": "tiff",
    ".tiff": "tiff",
    ".jpg": "jpeg",
    ".jpeg": "jpeg",
    ".pfm": "pfm",
    ".pgm": "netpbm",
    ".ppm": "netpbm",
    ".ply": "ply",
}


def recognise(path: AnyPath) -> str | None:
    """The format's name; content goes before the name, which only serves for a good error."""
    with opened(path) as file:
        head = file.read(8)
    for beginning, kind in _BEGINNINGS.items():
        if head.startswith(beginning):
            # Depth of Sintel begins as flow does.
            return "dpt" if kind == "flo" and by_name(path) == "dpt" else kind
    return by_name(path)


def by_name(path: AnyPath) -> str | None:
    """The format that the file's ending stands for."""
    return _ENDINGS.get(PurePath(os.fspath(path)).suffix.lower())
