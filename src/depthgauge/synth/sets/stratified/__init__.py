"""Stratified scenes in closed form: one challenge each, which grows across the image.

Four are those of the 4D light-field benchmark (Honauer 2019, 5.2), rebuilt from their description;
six more follow the same idea. Rays are intersected by formulas, so the truth is exact at any
resolution, and a scene is a light field or a stereo pair:

    sample = make_scene("dots", noise="0:0.1:15")
    sample.inputs.views, sample.truth.disparity, sample.truth.high_boxes_labels
    sample = make_pair("slant")
"""

from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._make import (
    PAIRS_ID,
    make_pair,
    make_scene,
    write_pairs,
    write_scenes,
)
from depthgauge.synth.sets.stratified._scene import REVISION
from depthgauge.synth.sets.stratified._scene_list import SCENES, axes_of, scene

__all__ = [
    "PAIRS_ID",
    "REVISION",
    "SCENES",
    "Axis",
    "axes_of",
    "make_pair",
    "make_scene",
    "scene",
    "write_pairs",
    "write_scenes",
]
