"""A trinocular capture session, photographed by a simulated rig: what a real one has, and truth.

The folder has the layout of `depthgauge.sessions`. What is exact and what is approximated is in
docs/capture-simulator.md.
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
