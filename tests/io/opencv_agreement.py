"""Compares what we read with what OpenCV reads."""

from typing import Any

import numpy as np


def agrees(value: Any, node: Any) -> bool:
    """Whether our value is the one that OpenCV reads."""
    if isinstance(value, np.ndarray):
        other = np.asarray(node.mat())
        return value.dtype == other.dtype and np.array_equal(value, other)
    if isinstance(value, dict):
        return sorted(node.keys()) == sorted(value) and all(
            agrees(inner, node.getNode(name)) for name, inner in value.items()
        )
    if isinstance(value, list):
        return node.size() == len(value) and all(agrees(v, node.at(i)) for i, v in enumerate(value))
    if isinstance(value, str):
        return value == "" or (node.isString() and node.string() == value)
    return (node.isInt() if isinstance(value, int) else node.isReal()) and node.real() == value
