"""Text files: read whole and decoded; anything wrong with them is one sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath, opened, read_whole

MOST_BYTES = 2**28
"""The longest text that is read."""


def read_text(path: AnyPath, most_bytes: int = MOST_BYTES) -> str:
    """The text of a UTF-8 file, without a byte order mark, its lines ending in a newline.

    Raises:
        BadFile: It does not exist, is too long, or is not text.
    """
    with opened(path) as file:
        body = read_whole(path, file, most_bytes)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: expected text in UTF-8, but byte {error.start} is not.") from None
    if "\0" in text:
        raise BadFile(f"{path}: expected text, found a NUL character.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: AnyPath) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        BadFile: It cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: is not TOML ({error}).") from error
