"""Dataset layouts, one file each, which reads the layout and, if that makes sense, writes it.

>>> DATASETS["middlebury-2014"].spec.quantities
('disparity',)
"""

from __future__ import annotations

from depthgauge.datasets._dataset import DATASETS, Dataset, DatasetSpec, reader
from depthgauge.datasets._hashing import frames_hash, things_hash, truth_hash
from depthgauge.datasets.estimates import (
    estimate_candidates,
    find_estimate,
    read_clip,
    read_estimate,
)

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetSpec",
    "estimate_candidates",
    "find_estimate",
    "frames_hash",
    "read_clip",
    "read_estimate",
    "reader",
    "things_hash",
    "truth_hash",
]
