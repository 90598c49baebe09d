"""What stands beside a map in its folder: `estimate.json` with what else a method found."""

from __future__ import annotations

import json
import math
from pathlib import Path

from depthgauge.errors import BadFile
from depthgauge.io._files import AnyPath

FILE_NAME = "estimate.json"
_MOST_BYTES = 1 << 20


def read_focal_px(map_path: AnyPath) -> float | None:
    """The focal length that the `estimate.json` beside a map says, None where there is none.

    It stands at the top or among the `extras`, as our own estimates folder has it.

    Raises:
        BadFile: The file is no JSON, or what it says is no focal length.
    """
    path = Path(map_path).parent / FILE_NAME
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadFile(f"{path}: is larger than {_MOST_BYTES} bytes; it describes an estimate.")
        body = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: cannot be read as JSON; write it again or delete it.") from error
    return _focal(path, body)


def _focal(path: Path, body: object) -> float | None:
    extras = body.get("extras") if isinstance(body, dict) else None
    for place in (body, extras):
        if isinstance(place, dict) and "focal_px" in place:
            found = place["focal_px"]
            is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
            if not is_number or not (math.isfinite(found) and found > 0):
                raise BadFile(f"{path}: focal_px is {found!r}; it must be a positive number.")
            return float(found)
    return None
