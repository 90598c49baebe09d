"""Masks and labels of objects that come with a sample, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable
from depthgauge.regions._checks import same_size
from depthgauge.types import Map, Mask


def mask_of(items: Mapping[str, Any], name: str, truth: Map) -> Mask:
    """The sample's `<name>_mask`.

    Raises:
        Unavailable: The sample has none.
        WrongShape: It does not have the truth's size.
    """
    item = f"{name}_mask"
    if item not in items:
        needs = [item, f"{name}_labels"]
        raise Unavailable(
            f"the mask '{name}' needs {item}, which this sample does not have.", needs
        )
    mask: Mask = np.not_equal(items[item], 0)
    same_size(item, mask, truth)
    return mask


def objects_of(
    items: Mapping[str, Any], name: str, truth: Map, *, pieces: bool = False
) -> NDArray[np.generic]:
    """The sample's `<name>_labels`, else its `<name>_mask` as one object, or as one object per
    connected piece.

    Values above 0 are objects, everything else is 0.

    Raises:
        Unavailable: The sample has neither.
        WrongShape: It does not have the truth's size.
    """
    item = f"{name}_labels"
    if item in items:
        labels = np.asarray(items[item])
        same_size(item, labels, truth)
        return np.where(labels > 0, labels, np.zeros_like(labels))
    mask = mask_of(items, name, truth)
    if not pieces:
        return mask
    from scipy import ndimage

    numbered: NDArray[np.int32] = ndimage.label(mask, np.ones((3, 3)), output=np.int32)[0]
    return numbered
