"""Names of the truth's items, and of their files in the benchmark.

`disparity` is gt_disp_lowres.pfm, `high_depth` is gt_depth_highres.pfm, `planes_mask` is
mask_planes_lowres.png and `high_vertical_bins_labels` is mask_vertical_bins_highres.png.
"""

from __future__ import annotations

import re

AXES, AXES_FILE = "axes", "axes.json"
"""The item and the file with the levels of numbered regions; the benchmark has none."""
HIGH = "high_"
"""Prefix of the items at high resolution."""
_QUANTITIES = {"disp": "disparity", "depth": "depth"}
_KINDS = {quantity: kind for kind, quantity in _QUANTITIES.items()}
_MAP = re.compile(r"gt_(disp|depth)_(lowres|highres)\.pfm")
_MASK = re.compile(r"mask_(\w+)_(lowres|highres)\.png")
_LABELS = ("boxes", "dots_by_size")
# A mask of scene Stripes whose item at low resolution starts with the prefix of high resolution.
_NOT_HIGH = "high_contrast"


def item_of(file: str) -> str | None:
    """The item that a file of a scene holds; None for other files.

    >>> item_of("mask_boxes_highres.png"), item_of("mask_fine_lowres.png"), item_of("notes.txt")
    ('high_boxes_labels', 'fine_mask', None)
    """
    if found := _MAP.fullmatch(file):
        return _prefix(found[2]) + _QUANTITIES[found[1]]
    if found := _MASK.fullmatch(file):
        name = found[1]
        kind = "labels" if _holds_labels(name) else "mask"
        return f"{_prefix(found[2])}{name.removesuffix('_labels')}_{kind}"
    return None


def file_of(item: str) -> str | None:
    """The file that holds an item; None for items that the layout cannot hold.

    >>> file_of("high_contrast_mask"), file_of("high_high_contrast_mask")
    ('mask_high_contrast_lowres.png', 'mask_high_contrast_highres.png')
    >>> file_of("high_depth"), file_of("material_labels"), file_of("disparity_path")
    ('gt_depth_highres.pfm', 'mask_material_labels_lowres.png', None)
    """
    name, kind = item, ""
    for ending in ("_mask", "_labels"):
        if item.endswith(ending):
            name, kind = item.removesuffix(ending), ending
    is_high = name.startswith(HIGH) and name != _NOT_HIGH
    name = name.removeprefix(HIGH) if is_high else name
    size = "highres" if is_high else "lowres"
    if not kind:
        return f"gt_{_KINDS[name]}_{size}.pfm" if name in _KINDS else None
    if not re.fullmatch(r"\w+", name):
        return None
    # "labels" is added to names without it, or the file would be read as a mask.
    told = "" if kind == "_mask" or _holds_labels(name) else "_labels"
    return f"mask_{name}{told}_{size}.png"


def _prefix(size: str) -> str:
    return HIGH if size == "highres" else ""


def _holds_labels(name: str) -> bool:
    return name in _LABELS or name.endswith(("_bins", "_labels"))
