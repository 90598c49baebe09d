"""What single steps were told, so that doing all of them does not undo it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge.errors import BadData

_FILE = "told.json"


def remember(work: Path, step: str, options: Mapping[str, Any]) -> None:
    """Keeps the options of a step; paths are kept as they lead from anywhere.

    Args:
        work: The work folder, which is there.
        step: The step's name.
        options: Plain values and paths; None is left out.
    """
    kept = {name: _stored(value) for name, value in options.items() if value is not None}
    text = json.dumps({**_read(work), step: kept}, indent=1, allow_nan=False)
    io.write_text(work / _FILE, text + "\n")


def remembered(work: Path) -> dict[str, dict[str, Any]]:
    """What every step was told last; empty for steps that nobody told anything."""
    return {
        step: {name: _given(value) for name, value in options.items()}
        for step, options in _read(work).items()
    }


def _read(work: Path) -> dict[str, dict[str, Any]]:
    path = work / _FILE
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {str(step): dict(options) for step, options in data.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadData(f"{path}: cannot be read ({error}); delete it.") from error


def _stored(value: Any) -> Any:
    return {"file": str(value.resolve())} if isinstance(value, Path) else value


def _given(value: Any) -> Any:
    return Path(value["file"]) if isinstance(value, dict) else value
