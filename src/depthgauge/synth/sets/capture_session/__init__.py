"""A capture session photographed by a simulated trinocular rig, with exact truth.

The folder has the layout of `depthgauge.sessions`. docs/capture-simulator.md says what is exact and
what is approximated.
"""

from depthgauge.synth.generators.capture_session import CaptureOptions
from depthgauge.synth.library.rooms import ROOMS
from depthgauge.synth.sets.capture_session._make import (
    SimulatedSession,
    write_capture_session,
)

SCENES = tuple(ROOMS)
"""The rooms that can be photographed."""

__all__ = ["SCENES", "CaptureOptions", "SimulatedSession", "write_capture_session"]
