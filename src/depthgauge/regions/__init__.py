"""Regions: named sets of pixels in a sample, computed from its truth, masks, labels and images.

A region is one decorated function in a module of this folder (see `_region.py`); expressions such
as `visible & textureless` combine them; `plane` packs all regions of a sample into one integer map.
"""

from __future__ import annotations

from depthgauge.regions._region import REGIONS, Region, region
from depthgauge.regions._shared_maps import SHARED_MAPS, SampleMaps, SharedMap, derived, shared_map
from depthgauge.regions.expressions import Expression, parse
from depthgauge.regions.plane import pack, pack_all
from depthgauge.regions.resolve import (
    SampleRegions,
    check_names,
    compute_regions,
    defaults,
    revisions,
)

__all__ = [
    "REGIONS",
    "SHARED_MAPS",
    "Expression",
    "Region",
    "SampleMaps",
    "SampleRegions",
    "SharedMap",
    "check_names",
    "compute_regions",
    "defaults",
    "derived",
    "pack",
    "pack_all",
    "parse",
    "region",
    "revisions",
    "shared_map",
]
