"""Scenes of six cameras in a row around a moving subject: proposals, trajectories, films.

    make_scene(root, 7, SceneOptions("eval", Shoot("Uniform", (480, 480), frames=9)))

A scene's number and the options decide all of it, so any machine can make any scene.
"""

from __future__ import annotations

from depthgauge.synth.sets.rig._gaps import FAMILIES, draw_gaps, pairs_of
from depthgauge.synth.sets.rig._limits import REASONS, Limits, Rejected
from depthgauge.synth.sets.rig._make import (
    REVISION,
    Accepted,
    SceneOptions,
    accepted,
    folder_of,
    make_scene,
    scene_id,
    source,
)
from depthgauge.synth.sets.rig._proposal import FOCAL_MM, Drawn, Proposal, Shoot, draw, placed
from depthgauge.synth.sets.rig._trajectory import Trajectory, connect

__all__ = [
    "FAMILIES",
    "FOCAL_MM",
    "REASONS",
    "REVISION",
    "Accepted",
    "Drawn",
    "Limits",
    "Proposal",
    "Rejected",
    "SceneOptions",
    "Shoot",
    "Trajectory",
    "accepted",
    "connect",
    "draw",
    "draw_gaps",
    "folder_of",
    "make_scene",
    "pairs_of",
    "placed",
    "scene_id",
    "source",
]
