"""Values as JSON: canonical texts with a hash, equal on every machine, and data without NaN."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any


def hash_json(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value.

    >>> hash_json({"b": 1, "a": 2.0}) == hash_json({"a": 2, "b": 1.0})
    True
    """
    return hashlib.sha256(to_json(value).encode()).hexdigest()


def to_json(value: Any) -> str:
    """The canonical JSON of a value: sorted keys, no spaces, whole numbers without a point.

    >>> to_json({"b": (1, 2.0), "a": 0.5})
    '{"a":0.5,"b":[1,2]}'
    """
    return json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def finite_data(value: Any) -> Any:
    """The same as plain JSON data: keys are texts, tuples are lists, NaN and infinities are None.

    >>> finite_data({1: (0.5, float("nan"))})
    {'1': [0.5, None]}
    """
    if isinstance(value, dict):
        return {str(key): finite_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_data(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _canonical(value: Any) -> Any:
    """2.0 and 2 are one number, a tuple and a list one list."""
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
