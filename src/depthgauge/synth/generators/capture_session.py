"""`make capture-session`: a simulated trinocular rig photographs a room."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from depthgauge._options import CommandLine
from depthgauge._progress import Progress
from depthgauge.synth.generators._spec import GeneratedData, GeneratorOptions, GeneratorSpec


class CaptureOptions(GeneratorOptions):
    """What is photographed, and how."""

    scene: Literal["bathroom", "desk", "kitchen"] = "kitchen"
    """The room."""
    width_px: Annotated[int, CommandLine("--width")] = Field(default=1168, ge=160, le=8192)
    """Width of the high-resolution images; 4112 is what a 12.4 megapixel camera has."""
    patterns: int = Field(default=20, ge=1, le=1000)
    """Number of patterns projected onto the painted scene."""
    illuminations: int = Field(default=3, ge=1, le=6)
    """Number of illuminations of the passive images."""
    poses: int = Field(default=18, ge=1, le=200)
    """Number of poses of the calibration board."""
    projectors: int = Field(default=6, ge=1, le=6)
    """Number of projectors around the rig."""
    seed: int = Field(default=0, ge=0)
    """Seed of the scene's variations, the rig, the patterns and the noise."""
    samples: int = Field(default=24, ge=1, le=65536)
    """Light paths for each pixel of the passive images."""
    pattern_side: Annotated[int, CommandLine(hidden=True)] = Field(default=4, ge=1, le=16)
    """Samples of a pixel along each side, under the patterns."""
    square_m: Annotated[float, CommandLine("--square")] = 0.05
    """Side of the board's squares, in metres."""
    denoise: bool = True
    """Remove the path tracer's noise from the passive images."""
    passive: bool = True
    """Render passive images; they need Mitsuba."""

    def parameters(self) -> dict[str, Any]:
        """The parameters that all pictures depend on; a folder has pictures of one set only."""
        names = ("scene", "width_px", "patterns", "poses", "projectors", "seed", "pattern_side")
        return {name: getattr(self, name) for name in (*names, "square_m")}

    def passive_parameters(self) -> dict[str, Any] | None:
        """Further parameters of passive images; None if there are none."""
        return {"samples": self.samples, "denoise": self.denoise} if self.passive else None


SPEC = GeneratorSpec(
    "capture-session",
    "A capture session of a simulated trinocular rig, with its hidden exact truth.",
    CaptureOptions,
    details="""
    Chessboard views, the painted scene under projected patterns, and the scene itself under several
    illuminations. An interrupted session continues where it stopped.

    \b
      depthgauge make capture-session --out session
      depthgauge make capture-session --out small --width 320 --patterns 6 --no-passive
    """,
    activity="photographing",
)


def make(
    out: Path, options: CaptureOptions, *, overwrite: bool, progress: Progress | None
) -> GeneratedData:
    """Writes the session's folder."""
    from depthgauge.synth.sets.capture_session import write_capture_session

    made = write_capture_session(out, options=options, overwrite=overwrite, progress=progress)
    shots = {
        "board view": options.poses,
        "pattern": options.patterns,
        "illumination": options.illuminations if options.passive else 0,
    }
    parts = ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in shots.items() if n)
    width, height = made.size_px["L"]
    return GeneratedData(
        out,
        summary=f"{made.session.name}, {width}x{height}: {parts}",
        facts={
            "name": made.session.name,
            "size_px": {name: list(size) for name, size in made.size_px.items()},
            "poses": options.poses,
            "patterns": options.patterns,
            "illuminations": shots["illumination"],
            "seed": options.seed,
            "warnings": list(made.warnings),
        },
        warnings=made.warnings,
    )
