"""A session with tags, photographed by a simulated stereo rig, with exact truth.

The folder has the layout of `depthgauge.sessions.tags`. docs/tag-simulator.md says what is exact
and what is approximated.
"""

from depthgauge.synth.generators.tag_session import TagSessionOptions
from depthgauge.synth.sets.tag_session._arrangements import ARRANGEMENTS
from depthgauge.synth.sets.tag_session._make import (
    REVISION,
    SimulatedTagSession,
    write_tag_session,
)

KINDS = tuple(ARRANGEMENTS)
"""What is photographed, in this order."""

__all__ = ["KINDS", "REVISION", "SimulatedTagSession", "TagSessionOptions", "write_tag_session"]
