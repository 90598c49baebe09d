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
        "_canonical": "JSON to hash",
        "_confine": "programs that do not see some folders",
        "_once": "properties that are computed once",
        "_progress": "how long work reports its progress",
        "_shorten": "long lists for people",
        "_tables": "small tables for people",
    },
    {
        "_registry": "registries that fill themselves; plug-ins of other packages",
        "_compiled": "kernels, and the threads that run them",
    },
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
    {"serve": "a site: accounts, submissions, hidden truth"},
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
            Stop("cli/score_verb.py", "parses the call, prints", "two paths and score ids"),
            Stop("engine/scoring/in_memory/arrays.py", "makes a protocol from the arguments"),
            Stop("io/maps.py", "reads each map; missing becomes NaN", "float32 maps", 1),
            Stop("benchmarks/protocol.py", "checks it and fills in defaults", "Protocol", 1),
            Stop("engine/scoring/prepare.py", "limits the truth, resizes and aligns the estimate"),
            Stop("regions/resolve.py", "computes every region once", "PreparedSample", 1),
            Stop("engine/scoring/measure.py", "asks for all scores in one pass"),
            Stop("regions/plane.py", "packs the regions into one map", "atoms", 1),
            Stop("metrics/moments.py", "sums all terms of all metrics", "states", 1),
            Stop("metrics/_metric.py", "finishes each state into a number", "Scores", 1),
            Stop("engine/scoring/result.py", "rows for the terminal"),
        ),
    ),
    Walk(
        "run",
        "depthgauge run middlebury --data MiddEval3 --out runs/first -m sgbm",
        (
            Stop("cli/run_verb.py", "parses the call", "names and paths"),
            Stop(
                "engine/running/run.py",
                "finds benchmark, methods and samples; refuses what cannot work",
            ),
            Stop(
                "engine/running/plan.py",
                "writes run.json; one task per method, seed, sample",
                "tasks",
            ),
            Stop("engine/running/executors/processes.py", "starts the workers"),
            Stop("engine/running/chunks.py", "hands out tasks sample by sample", "chunks", 1),
            Stop(
                "engine/running/guard.py",
                "watches one worker and restarts it if it dies",
                "a task",
                1,
            ),
            Stop("engine/running/_worker.py", "another process: receives tasks", "", 2),
            Stop("engine/running/workers.py", "scores, or does jobs of a generator", "", 2),
            Stop("engine/running/work.py", "reads the inputs, then stores and scores", "inputs", 2),
            Stop("engine/running/hosts.py", "keeps one process per method", "", 3),
            Stop(
                "methods/_process/client.py",
                "asks the method's process; checks what it sends",
                "Estimate",
                3,
            ),
            Stop("engine/store/estimates.py", "stores the estimate", "", 3),
            Stop(
                "engine/scoring/judge.py", "scores it; keeps the regions of the sample", "scores", 3
            ),
            Stop("engine/store/item.py", "writes the item: one file", "items/*.json", 3),
            Stop("engine/running/finish.py", "checks that all items are there"),
            Stop("engine/store/parquet.py", "writes the tables", "scores.parquet ...", 1),
            Stop("engine/store/load.py", "reads them back and pools", "Run"),
            Stop("cli/_runs.py", "asks for the leaderboard"),
            Stop("analysis/boards/make_board.py", "intervals, ties, ranks", "Board", 1),
            Stop("report/tables/leaderboard.py", "the table for the terminal", "", 1),
        ),
    ),
    Walk(
        "capture",
        "depthgauge capture rectify kitchen",
        (
            Stop(
                "cli/capture_verb.py", "makes the command from the options of the step", "options"
            ),
            Stop("sessions/session.py", "opens the folder of photographs", "Session", 1),
            Stop("capture/registry.py", "finds the step, checks what it needs"),
            Stop("capture/rectify/step.py", "plans: which files it depends on", "key", 1),
            Stop("capture/steps.py", "skips it if the key is unchanged; makes it beside its place"),
            Stop("capture/rectify/pairs.py", "the rectified cameras", "RectifiedPair", 1),
            Stop("capture/resample.py", "resamples the photographs", "images", 1),
            Stop(
                "capture/step_options.py",
                "remembers the options for the next call",
                "StepOutput",
                1,
            ),
            Stop("report/capture/page.py", "draws the picture and the page"),
        ),
    ),
)
"""Command lines, and the main files that they pass in order."""
