"""Damaged files: only `DepthgaugeError` may come out of a reader, whatever the bytes are.

Our own parsers are tried in this process; what ends in a library's decoder runs in one process with
little memory, so that a crash or a huge allocation is seen and its input kept.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import resource
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from depthgauge.errors import DepthgaugeError
from depthgauge.io import (
    map_size,
    read_image,
    read_labels,
    read_map,
    read_mask,
    read_middlebury_calib,
    read_opencv_calibration,
    read_ply,
)
from depthgauge.io.beside import read_parts
from depthgauge.io.text import read_json, read_toml

OWN_MUTATIONS = 1_000
LIBRARY_MUTATIONS = 200
LONG_FUZZ_S = 20 * 60
"""How long `make test-long` tries all readers, with other damage in every round."""
MEMORY = 4 * 2**30


def mutate(rng: np.random.Generator, data: bytes) -> bytes:
    """One to three of: a flipped byte, a cut, a changed digit, an insertion, a copied piece."""
    out = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, len(out) + 1)) if out else 0
        kind = rng.integers(0, 6)
        if kind == 0 and at < len(out):
            out[at] = int(rng.integers(0, 256))
        elif kind == 1:
            del out[at:]
        elif kind == 2:
            digits = [m.start() for m in re.finditer(rb"[0-9]", out)]
            if digits:
                out[int(rng.choice(digits))] = ord(str(rng.integers(0, 10)))
        elif kind == 3:
            extra = [b"9999999", b"-1", b"\0", b"\xff" * 4, b"nan", b"\n", b" ", b'"', b"[", b"{"]
            extra += [b"9" * 400, b"1" + b"0" * 5000, b"[" * 2000, b"1e999", b"<a>" * 500]
            out[at:at] = extra[int(rng.integers(0, len(extra)))]
        elif kind == 4 and at < len(out):
            out[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 5:
            out[at:at] = out[at : at + int(rng.integers(0, 40))]
    return bytes(out)


def check_sentence(error: DepthgaugeError, path: Path) -> None:
    """One line that starts with the file."""
    assert str(error).startswith(str(path)), error
    assert "\n" not in str(error), error


def pfm_seeds() -> list[bytes]:
    body = np.arange(12, dtype="<f4").tobytes()
    return [
        b"Pf\n4 3\n-1\n" + body,
        b"PF\n# a comment\n2 2\n0.5\n" + body,
        b"Pf 12 1 -2.0\r\n" + body,
    ]


def flo_seeds() -> list[bytes]:
    return [b"PIEH" + struct.pack("<ii", 3, 2) + np.arange(12, dtype="<f4").tobytes()]


def npy_seeds() -> list[bytes]:
    arrays = [
        np.arange(12, dtype="f4").reshape(3, 4),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([[True, False]]),
        np.arange(4, dtype=">i2").reshape(1, 2, 2),
        np.array([[1 + 2j]]),
        np.array([["text"]]),
    ]
    found = []
    for array in arrays:
        stream = io.BytesIO()
        np.save(stream, array)
        found.append(stream.getvalue())
    return found


def ply_seeds() -> list[bytes]:
    text = (
        b"ply\nformat ascii 1.0\ncomment x\nelement vertex 3\nproperty float x\nproperty float y\n"
        b"property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        b"element face 2\nproperty list uchar int vertex_indices\nend_header\n"
        b"0 0 0 1 2 3\n1 0 0 4 5 6\n0 1 0 7 8 9\n3 0 1 2\n4 0 1 2 0\n"
    )
    head = b"element vertex 2\nproperty float x\nproperty double y\nproperty float z\n"
    face = (
        b"element face 2\nproperty list uchar int vertex_index\nproperty uchar flag\nend_header\n"
    )
    body = struct.pack("<fdffdf", *range(6))
    faces = struct.pack("<B3iBB4iB", 3, 0, 1, 0, 7, 4, 0, 1, 0, 1, 7)
    swapped = struct.pack(">fdffdf", *range(6)) + struct.pack(
        ">B3iBB3iB", 3, 0, 1, 0, 7, 3, 0, 1, 0, 7
    )
    return [
        text,
        b"ply\nformat binary_little_endian 1.0\n" + head + face + body + faces,
        b"ply\nformat binary_big_endian 1.0\n" + head + face + swapped,
    ]


def calib_seeds() -> list[bytes]:
    return [
        b"cam0=[3997.684 0 1176.728; 0 3997.684 1011.728; 0 0 1]\n"
        b"cam1=[3997.684 0 1307.839; 0 3997.684 1011.728; 0 0 1]\ndoffs=131.111\n"
        b"baseline=193.001\nwidth=2964\nheight=1988\nndisp=280\nisint=0\nvmin=31\nvmax=257\n"
    ]


def storage_seeds() -> list[bytes]:
    return [
        b'<?xml version="1.0"?>\n<opencv_storage>\n<!-- c -->\n<M type_id="opencv-matrix"><rows>1'
        b'</rows><cols>2</cols><dt>d</dt><data>1. 2.e-3</data></M>\n<names>"a b" c 12</names>'
        b"<seq><_>1</_><_><k>2</k></_></seq>\n</opencv_storage>\n",
        b'<opencv_storage><n>3</n><name>"a &quot;b&quot; c"</name><M type_id="opencv-matrix">'
        b'<rows>2</rows><cols>2</cols><dt>"2f"</dt><data>1. 2. 3.e+2 .Nan\n 5. -6. 7. 8.</data>'
        b"</M>"
        b"</opencv_storage>",
        b'<!DOCTYPE a [<!ENTITY b "c">]><opencv_storage><x>&b;</x></opencv_storage>',
    ]


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, depth: int, colour: int, rows: bytes, lace: int = 0) -> bytes:
    extra = chunk(b"PLTE", bytes(range(48))) if colour == 3 else b""
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, lace)),
            chunk(b"tEXt", b"depthgauge:scale\x00128.0"),
            extra,
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        ]
    )


def png_seeds() -> list[bytes]:
    def rows(count: int, width: int) -> bytes:
        return b"".join(bytes([i % 5, *range(i, i + width)]) for i in range(count))

    return [
        png(4, 3, 16, 0, rows(3, 8)),
        png(4, 6, 8, 2, rows(6, 12)),
        png(5, 4, 16, 6, rows(4, 40)),
        png(4, 3, 8, 4, rows(3, 8)),
        png(9, 3, 4, 3, rows(3, 5)),
        png(9, 3, 1, 0, rows(3, 2)),
        png(8, 8, 8, 0, b"".join(b"\0" * (w + 1) * h for w, h in _passes()), 1),
    ]


def _passes() -> list[tuple[int, int]]:
    return [(1, 1), (1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 4)]


def repair(data: bytes) -> bytes:
    """Right checksums again, so that damage reaches the decoder."""
    out, at = bytearray(data), 8
    while at + 12 <= len(out):
        end = at + 12 + int.from_bytes(out[at : at + 4], "big")
        if end > len(out):
            break
        out[end - 4 : end] = struct.pack(">I", zlib.crc32(bytes(out[at + 4 : end - 4])))
        at = end
    return bytes(out)


def read_png_any(path: Path) -> None:
    for read in (read_image, read_labels, read_map, map_size, lambda p: read_map(p, "flow")):
        try:
            read(path)
        except DepthgaugeError as error:
            check_sentence(error, path)


def png_header_only(path: Path) -> None:
    """Without repair, damage is seen by our own parser: checksums, lengths, chunk order."""
    read_map(path)


def json_seeds() -> list[bytes]:
    return [
        b'{"time_s": 1.5, "focal_px": 720, "parts": {"focal_px": 1e3}, "list": [1, [2, {"a": 3}]]}',
        b'{"focal_px": 1' + b"0" * 400 + b"}",
        b'{"a":' + b"[" * 60 + b"1" + b"]" * 60 + b"}",
    ]


def toml_seeds() -> list[bytes]:
    return [
        b'id = "x"\nversion = 1\na.b.c = 0x1f\n[options]\nradius = 3\nlist = [1, {b = 2}]\n'
        b"[[scores]]\nmetric = 'mae'\nthreshold = [1, 2.5, 1e3]\n",
        b"a = " + b"[" * 60 + b"1" + b"]" * 60,
    ]


OWN: dict[str, tuple[Callable[[], list[bytes]], Callable[[Path], object]]] = {
    "a.pfm": (pfm_seeds, read_map),
    "a.flo": (flo_seeds, read_map),
    "a.npy": (npy_seeds, read_map),
    "a.ply": (ply_seeds, read_ply),
    "calib.txt": (calib_seeds, read_middlebury_calib),
    "a.xml": (storage_seeds, read_opencv_calibration),
    "a.png": (png_seeds, png_header_only),
    "estimate.json": (json_seeds, lambda path: read_parts(path.parent / "depth.npy", "depth")),
    "a.json": (json_seeds, read_json),
    "a.toml": (toml_seeds, read_toml),
}


@pytest.mark.parametrize("name", OWN)
def test_own_parsers_survive_damage(name: str, tmp_path: Path) -> None:
    seeds, read = OWN[name]
    rng = np.random.default_rng(list(name.encode()))
    inputs, path = seeds(), tmp_path / name
    refused = 0
    for i in range(OWN_MUTATIONS):
        data = mutate(rng, inputs[i % len(inputs)])
        path.write_bytes(data)
        try:
            read(path)
        except DepthgaugeError as error:
            refused += 1
            check_sentence(error, path)
    assert refused > OWN_MUTATIONS // 10


# --- what libraries decode ---------------------------------------------------------------------


def jpeg_seeds() -> list[bytes]:
    import cv2

    y, x = np.mgrid[0:24, 0:20]
    grey = ((x * 12 + y * 7) % 256).astype(np.uint8)
    colour = np.stack([grey, grey.T[:20, :24].T, 255 - grey], axis=2)
    progressive, restarts = [cv2.IMWRITE_JPEG_PROGRESSIVE, 1], [cv2.IMWRITE_JPEG_RST_INTERVAL, 1]
    whole = [
        cv2.imencode(".jpg", a, f)[1].tobytes()
        for a in (grey, colour)
        for f in ([], progressive, restarts)
    ]
    return [*whole, *(data[: len(data) * 9 // 10] + b"\xff\xd9" for data in whole)]


def exr_seeds(folder: Path) -> list[bytes]:
    import OpenEXR

    rng = np.random.default_rng(3)
    plane = rng.random((40, 24), dtype=np.float32)
    found = []
    kinds = ("NO", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24", "B44", "B44A", "DWAA", "DWAB")
    for kind in kinds:
        for dtype in (np.float32, np.float16):
            header = {"compression": getattr(OpenEXR, f"{kind}_COMPRESSION")}
            planes = {"Z": plane.astype(dtype)}
            if dtype is np.float16:
                planes = {n: plane.astype(dtype) for n in "RGB"}
            OpenEXR.File({**header, "type": OpenEXR.scanlineimage}, planes).write(
                str(folder / "s.exr")
            )
            found.append((folder / "s.exr").read_bytes())
    tiles = {
        "type": OpenEXR.tiledimage,
        "compression": OpenEXR.ZIP_COMPRESSION,
        "tiles": OpenEXR.TileDescription(),
    }
    OpenEXR.File(tiles, {"Z": plane}).write(str(folder / "s.exr"))
    return [*found, (folder / "s.exr").read_bytes()]


def tiff_seeds() -> list[bytes]:
    import tifffile

    floats = np.arange(20 * 18, dtype=np.float32).reshape(20, 18)
    codes = floats.astype(np.uint16)
    found = []
    for array, options in (
        (floats, {}),
        (floats, {"compression": "zlib"}),
        (codes, {"compression": "zlib", "predictor": True}),
        (floats.astype(">f8"), {"byteorder": ">", "rowsperstrip": 7}),
        (floats, {"tile": (16, 16), "compression": "zlib"}),
        (floats, {"bigtiff": True}),
    ):
        stream = io.BytesIO()
        tifffile.imwrite(stream, array, **options)
        found.append(stream.getvalue())
    return found


def npz_seeds() -> list[bytes]:
    found = []
    for save, names in ((np.savez, "map"), (np.savez_compressed, "map"), (np.savez, "other")):
        stream = io.BytesIO()
        save(stream, **{names: np.arange(30, dtype="f4").reshape(5, 6)})
        found.append(stream.getvalue())
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("map.npy", npy_seeds()[0])
    return [*found, stream.getvalue()]


def read_jpeg_any(path: Path) -> None:
    read_image(path)
    read_mask(path)


def read_exr_any(path: Path) -> None:
    for read in (read_map, read_image):
        try:
            read(path)
        except DepthgaugeError as error:
            check_sentence(error, path)


def library_cases(
    folder: Path, mutations: int, turn: int
) -> Iterator[tuple[str, bytes, Callable[[Path], object]]]:
    kinds: list[tuple[str, list[bytes], Callable[[Path], object]]] = [
        ("a.png", png_seeds(), read_png_any),
        ("a.jpg", jpeg_seeds(), read_jpeg_any),
        ("a.exr", exr_seeds(folder), read_exr_any),
        ("a.tiff", tiff_seeds(), read_map),
        ("a.npz", npz_seeds(), read_map),
    ]
    if turn:  # in the first one they have a test of their own
        kinds += [(name, seeds(), read) for name, (seeds, read) in OWN.items()]
    for name, seeds, read in kinds:
        rng = np.random.default_rng([turn, *name.encode()])
        for i in range(mutations):
            data = mutate(rng, seeds[i % len(seeds)])
            yield name, repair(data) if name == "a.png" else data, read


def work(folder: Path, mutations: int, seconds: float) -> None:
    """Runs in a process of its own; leaves `failed.json` and, if it dies, the input it died of.

    Args:
        folder: Where files are written.
        mutations: Of each kind of file, in each turn.
        seconds: Turns begin until they are over; one at least.
    """
    import warnings

    warnings.simplefilter("error")
    end = time.monotonic() + seconds
    turns = itertools.takewhile(lambda turn: not turn or time.monotonic() < end, itertools.count())
    cases = itertools.chain.from_iterable(library_cases(folder, mutations, t) for t in turns)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    failed: list[str] = []
    for number, (name, data, read) in enumerate(cases):
        path = folder / name
        path.write_bytes(data)
        try:
            read(path)
        except DepthgaugeError:
            pass
        except BaseException as error:
            kept = folder / f"failed-{number}-{name}"
            kept.write_bytes(data)
            failed.append(f"{kept}: {type(error).__name__}: {error}")
    (folder / "failed.json").write_text(json.dumps(failed))


@pytest.mark.parametrize(
    "seconds", [0, pytest.param(LONG_FUZZ_S, marks=pytest.mark.long(minutes=20))]
)
def test_library_decoders_survive_damage(seconds: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path), str(LIBRARY_MUTATIONS), str(seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + 300,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    last = max(tmp_path.glob("*.*"), key=lambda p: p.stat().st_mtime_ns, default=None)
    assert done.returncode == 0, f"died of {last} ({done.returncode}): {done.stderr[-2000:]}"
    assert json.loads((tmp_path / "failed.json").read_text()) == []


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
