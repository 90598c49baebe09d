"""The options that each step of a work folder was last given.

They are kept in `step_options.json`, so that `run_steps` repeats a step with the same options
instead of undoing them. It holds only options that were given; the others have their defaults.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._options import Options
from depthgauge.errors import BadData
from depthgauge.io.text import parse_json

_FILE = "step_options.json"
_OLD_FILE = "told.json"
"""Its earlier name; read if there is no file with the new name."""


def remember(work: Path, step: str, options: Options) -> None:
    """Stores the options that a step was given; paths are made absolute.

    Args:
        work: The work folder, which exists.
        step: The step's name.
        options: The step's options; fields that were not set, or are None, are left out.
    """
    given = {name: getattr(options, name) for name in type(options).model_fields}
    kept = {
        name: _stored(value)
        for name, value in given.items()
        if name in options.model_fields_set and value is not None
    }
    before = _read(work)
    if before.get(step) != kept or not (work / _FILE).is_file():
        _write(work, {**before, step: kept})


@contextmanager
def remembering(work: Path, step: str, options: Options) -> Iterator[None]:
    """Stores the options while a step is made, so that a killed step is continued with them.

    A step that fails with an error gets its earlier options back: they may be the reason.
    """
    before = _read(work).get(step)
    remember(work, step, options)
    try:
        yield
    except Exception:
        others = {name: given for name, given in _read(work).items() if name != step}
        _write(work, others if before is None else {**others, step: before})
        raise


def remembered(work: Path) -> dict[str, dict[str, Any]]:
    """The options that each step was last given, by step; empty for steps run with defaults."""
    return {
        step: {name: _given(value) for name, value in options.items()}
        for step, options in _read(work).items()
    }


def plain_options(options: Options) -> dict[str, Any]:
    """All options as plain data, for a step's record and key: paths by their name alone."""
    return {name: _plain(getattr(options, name)) for name in type(options).model_fields}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.name if isinstance(value, Path) else value


def _write(work: Path, options: Mapping[str, Mapping[str, Any]]) -> None:
    io.write_text(work / _FILE, json.dumps(options, indent=1, allow_nan=False) + "\n")


def _read(work: Path) -> dict[str, dict[str, Any]]:
    path = next((work / name for name in (_FILE, _OLD_FILE) if (work / name).is_file()), None)
    if path is None:
        return {}
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        return {str(step): dict(options) for step, options in data.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadData(f"{path}: cannot be read ({error}); delete it.") from error


def _stored(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return {"file": str(value.resolve())} if isinstance(value, Path) else value


def _given(value: Any) -> Any:
    return Path(value["file"]) if isinstance(value, dict) else value
