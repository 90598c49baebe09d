"""OpenCV's semi-global matching, rounded to whole pixels as in OpenCV's regression test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from depthgauge.methods.sgbm import SPEC as SGBM
from depthgauge.methods.sgbm import SgbmOptions
from depthgauge.methods.sgbm import estimate as match
from depthgauge.types import Inputs, Map

SPEC = replace(SGBM, id="sgbm_rounded", title=f"{SGBM.title}, rounded to whole pixels")


def estimate(inputs: Inputs, options: SgbmOptions) -> Map:
    """Whole disparities of the left view; of two equally near ones the even."""
    return np.rint(match(inputs, options))
