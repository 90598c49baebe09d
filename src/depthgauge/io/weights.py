"""Weights of networks: files that people put into one folder, found by name or by their hash."""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from depthgauge.errors import BadScoreId, MissingExtra, Unavailable

_NETWORK = re.compile(r"onnx-([0-9a-f]{12})")
MATCHER = "nets-stereo-3"
"""What protocols call our stereo network as a matcher; its number rises with its weights."""
MATCHER_SIZE, MATCHER_UPDATES = (480, 832), 10
"""Height and width of the pictures that it gets, and its updates."""
MADE_OF = "made of"
"""The entry of an exported file that says what it was made of."""
_MATCHER_IS = (
    "weights 317ad0a475375e775fa5a557fae50f136cc1260c05a831ba8b96a7f26f9a3504, 832x480 px, "
    "10 updates, white 255"
)
"""What its file says. The bytes of a file depend on the exporter's version, what it computes does
not, so protocols need not name this network by a hash."""


def weights_folder() -> Path:
    """Where weights are looked for: `$DEPTHGAUGE_WEIGHTS`, else `weights` in the user's cache."""
    if own := os.environ.get("DEPTHGAUGE_WEIGHTS"):
        return Path(own)
    caches = os.environ.get("XDG_CACHE_HOME")
    folder = Path(caches) if caches else Path.home() / ".cache"
    return folder / "depthgauge" / "weights"


def find_weights(name: str, what: str) -> Path:
    """A file of the weights folder.

    Args:
        name: The file's name.
        what: What it is and where it comes from, for the message.

    Raises:
        Unavailable: It is not there.
    """
    path = weights_folder() / name
    if not path.is_file():
        raise Unavailable(
            f"{path} is not there; it has {what}. Put it there, or set DEPTHGAUGE_WEIGHTS to the "
            "folder that has it."
        )
    return path


def network_name(path: Path) -> str:
    """What protocols call a network: `onnx-` and the first 12 digits of the file's SHA-256.

    So a protocol names one network to the bit, wherever its file lies.
    """
    told = path.stat()
    return f"onnx-{_sha256(path, told.st_size, told.st_mtime_ns)[:12]}"


@lru_cache(maxsize=256)
def _sha256(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_network(name: str) -> bool:
    """Whether a word names a network by its hash."""
    return _NETWORK.fullmatch(name) is not None


def matcher_path() -> Path:
    """Where the file of our stereo network is looked for as a matcher."""
    return weights_folder() / f"{MATCHER}.onnx"


def find_network(name: str) -> Path:
    """The file of the weights folder that has this name or hash.

    Raises:
        BadScoreId: The word is no such name.
        Unavailable: No file has the hash, or our network was not exported.
    """
    if name == MATCHER:
        if not matcher_path().is_file():
            raise Unavailable(
                f"{matcher_path()} is not there; where PyTorch is installed, `depthgauge train "
                "export stereo --as-matcher` writes it."
            )
        return matcher_path()
    if not is_network(name):
        raise BadScoreId(
            f"'{name}' is no network; write {MATCHER}, or onnx- and 12 digits of its SHA-256."
        )
    folder = weights_folder()
    known = {network_name(path): path for path in sorted(folder.glob("*.onnx"))}
    if name not in known:
        listed = ", ".join(f"{path.name} is {word}" for word, path in known.items())
        raise Unavailable(
            f"no ONNX file in {folder} is {name} ({listed or 'there is none'}); put it there, or "
            "set DEPTHGAUGE_WEIGHTS to the folder that has it."
        )
    return known[name]


def open_network(name: str) -> Any:
    """A session of onnxruntime with the network of this name; opened once.

    Raises:
        Unavailable: There is no such file, or it was made of something else than its name says.
        MissingExtra: onnxruntime is not installed.
    """
    path = find_network(name)
    session = _session(path)
    if name == MATCHER and session.get_modelmeta().custom_metadata_map.get(MADE_OF) != _MATCHER_IS:
        raise Unavailable(
            f"{path}: is not the network {MATCHER} of this version; write it again with "
            "`depthgauge train export stereo --as-matcher`."
        )
    return session


@lru_cache(maxsize=4)
def _session(path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra(f"{path}: needs onnxruntime; say: pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
