"""The house: which room is on which floor, and three walks through it.

The tests hold the imports of the package against `FLOORS`; `tools.drawings` draws all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "depthgauge"

FLOORS: tuple[dict[str, str], ...] = (
    {
        "errors": "the one tree of exceptions",
        "_compiled": "one parallel kernel at a time",
        "_canonical": "JSON to hash",
        "_progress": "how long work reports its progress",
        "_shorten": "long lists for people",
    },
    {"_registry": "registries that fill themselves; plug-ins of other packages"},
    {"_declared": "checks of declarations when something registers"},
    {"_options": "strict options; the command line and signatures come from them"},
    {"types": "Sample, Inputs, Truth, Estimate, Score, Camera, Rig"},
    {"quantities": "one file per quantity: unit, parts, error, resizing, default metrics"},
    {"units": "px, m, %, degrees"},
    {
        "io": "files to maps and back; one file per format",
        "geometry": "projection, warping, resizing, alignment, edges, surfaces",
    },
    {
        "metrics": "what is measured; the fused kernel",
        "regions": "named sets of pixels, and what regions share",
        "datasets": "one file per layout on disk",
        "methods": "one file per method",
        "perturbations": "damage to images",
        "sessions": "folders of a capture rig",
    },
    {
        "benchmarks": "protocols: one TOML file each; twins",
        "synth": "scenes, renderers, generated datasets",
        "capture": "from photographs to disparity with a stated error",
    },
    {"annotate": "from drawings on a photograph to normals and depth; simulated people"},
    {"engine": "scoring, running, storing; returns results and prints nothing"},
    {"analysis": "intervals, ties, ranks, profiles, curves"},
    {"report": "tables, charts, pictures, the HTML page"},
    {"serve": "a server that calls the same functions (planned)"},
    {"cli": "one file per verb; parses and prints"},
)
"""From the ground up. A room imports only from floors below its own."""


@dataclass(frozen=True)
class Stop:
    """A file that a walk passes."""

    file: str
    """Below src/depthgauge."""
    does: str
    passes: str = ""
    """What goes on to the next stop."""
    level: int = 0
    """How far inside: 1 for what runs in another process or is called by the stop before."""


@dataclass(frozen=True)
class Walk:
    """What happens on one command, file by file."""

    name: str
    command: str
    stops: tuple[Stop, ...]


WALKS = (
    Walk(
        "score",
        "depthgauge score --estimate a.pfm --truth b.pfm",
        (
            Stop("cli/score_verb.py", "parses the call", "two paths and score ids"),
            Stop("engine/scoring/arrays.py", "makes a protocol from the arguments"),
            Stop("io/maps.py", "reads each map; missing becomes NaN", "float32 maps", 1),
            Stop(
                "benchmarks/protocol.py", "checks the protocol and fills in defaults", "Protocol", 1
            ),
            Stop("engine/scoring/prepare.py", "limits the truth, resizes and aligns the estimate"),
            Stop("regions/resolve.py", "computes every region once", "Prepared", 1),
            Stop("engine/scoring/measure.py", "packs the regions, plans one pass"),
            Stop("metrics/moments.py", "sums all terms of all metrics by atom", "states", 1),
            Stop("metrics/pixel.py", "finishes each state into a number", "Scores", 1),
            Stop("report/tables/numbers.py", "rows for the terminal"),
        ),
    ),
)
