"""The folder of a capture session: what a trinocular rig photographed, and what is known about it.

Simulated and real sessions have the same layout, described in docs/capture.md:

    session.json                       name, board, and whether it was simulated
    calibration/{L,C,R}/<pose>.png     the board in many poses; equal names were taken at once
    passive/{L,C,R}/im<k>.png          the scene under illumination k
    pattern/{L,R}/<t>.png              the painted scene under projected pattern t
    labels/materials.png               classes 0..3 drawn on a raw left photograph (optional)
    labels/surfaces.png                0 none, 1 transparent, 2 mirror (optional)
    truth/                             simulated sessions only: cameras, mesh, materials
"""

from depthgauge.sessions.board import Board, read_board
from depthgauge.sessions.session import CAMERAS, Session, open_session, write_session
from depthgauge.sessions.simulated import SimulatedTruth, read_simulated, write_simulated

__all__ = [
    "CAMERAS",
    "Board",
    "Session",
    "SimulatedTruth",
    "open_session",
    "read_board",
    "read_simulated",
    "write_session",
    "write_simulated",
]
