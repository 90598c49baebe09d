"""COCO's evaluation of instances, made of our parts: the twelve numbers of its summary."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
from coco_rle import decode_coco_mask

from depthgauge.metrics.average_precision import interpolated_precision
from depthgauge.metrics.planes import OVERLAPS, Instances, match_instances, overlaps_of

RANGES = {
    "all": (0, 1e10),
    "small": (0, 32**2),
    "medium": (32**2, 96**2),
    "large": (96**2, 1e10),
}


def read_instances(truth_path, found_path):
    """(category, picture) -> instances of that category in that picture."""
    truth, found = json.loads(truth_path.read_text()), json.loads(found_path.read_text())
    sizes = {image["id"]: (image["height"], image["width"]) for image in truth["images"]}
    true, estimated = defaultdict(list), defaultdict(list)
    for group, listed in ((true, truth["annotations"]), (estimated, found)):
        for one in listed:
            group[one["category_id"], one["image_id"]].append(one)
    return {key: instances(true[key], estimated[key], sizes[key[1]]) for key in {*true, *estimated}}


def instances(true, estimated, size):
    """Overlaps by pixels of the decoded masks."""
    masks, truths = (decoded(group, size) for group in (estimated, true))
    areas, pixels = masks.sum(axis=1, dtype=np.float64), truths.sum(axis=1, dtype=np.float64)
    crowd = np.array([bool(one["iscrowd"]) for one in true], bool)
    shared = (masks @ truths.T).astype(np.float64)
    scores = np.array([one["score"] for one in estimated], np.float64)
    # The size that decides what is small is the annotation's own.
    said = np.array([one["area"] for one in true], np.float64)
    return Instances(scores, areas, said, crowd, overlaps_of(shared, areas, pixels, crowd))


def decoded(group, size):
    """(n, pixels), 0 and 1."""
    rows = np.zeros((len(group), size[0] * size[1]), np.float32)
    for row, one in zip(rows, group, strict=True):
        row[:] = decode_coco_mask(one["segmentation"], size).ravel()
    return rows


def evaluate(found, area="all", most=100):
    """(precision, recall), each (overlaps, categories); NaN where a category has no truth."""
    precision, recall = [], []
    for category in sorted({category for category, _ in found}):
        matches = [
            match_instances(one, area_px=RANGES[area], most=most)
            for (this, _), one in sorted(found.items())
            if this == category
        ]
        truths = sum(one.truths for one in matches)
        scores = np.concatenate([one.scores for one in matches])
        right, counted = (
            np.concatenate([getattr(one, name) for one in matches], axis=1)
            for name in ("right", "counted")
        )
        if truths:
            recall.append((right & counted).sum(axis=1) / truths)
            precision.append(
                [
                    interpolated_precision(scores[use], good[use], truths, ties="given")
                    for good, use in zip(right, counted, strict=True)
                ]
            )
    return np.array(precision).T, np.array(recall).T


def summary(found):
    """AP, AP50, AP75, AP of three sizes, AR of 1, 10, 100, AR of three sizes."""
    by_area = {area: evaluate(found, area) for area in RANGES}
    whole, recall = by_area["all"]
    sizes = ("small", "medium", "large")
    at = [int(np.argmin(np.abs(OVERLAPS - t))) for t in (0.5, 0.75)]
    return [
        whole.mean(),
        *(whole[k].mean() for k in at),
        *(by_area[size][0].mean() for size in sizes),
        *(evaluate(found, most=most)[1].mean() for most in (1, 10)),
        recall.mean(),
        *(by_area[size][1].mean() for size in sizes),
    ]
