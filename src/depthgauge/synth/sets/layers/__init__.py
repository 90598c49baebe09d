"""Pairs of rooms with glass: pictures, and exact truth of every layer.

    make_pair(root, 7, PairOptions(StageOptions(size_px=(320, 240))))

A pair is a rectified stereo pair at two times (four pictures) of a room of `library.interiors`,
with things of `library.glassware` on its tables and in the air. Its number and the options decide
all of it, so any machine can make any pair.
"""

from __future__ import annotations

from depthgauge.synth.sets.layers._make import REVISION, PairOptions, make_pair, sample_id
from depthgauge.synth.sets.layers._sheet import MOST, write_sheet
from depthgauge.synth.sets.layers._stage import Stage, StageOptions, stage

__all__ = [
    "MOST",
    "REVISION",
    "PairOptions",
    "Stage",
    "StageOptions",
    "make_pair",
    "sample_id",
    "stage",
    "write_sheet",
]
