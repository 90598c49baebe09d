"""Our network as an engine of space-time stereo beside classical matching, with few patterns.

The rule between both was chosen on kitchen 1 at 400 px; no number comes from the sessions here,
which are kept in out/evidence.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.audit.error_figures import near_discontinuities, thin_structures
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.photographs.movements import read_movements
from depthgauge.capture.pipeline import run_steps
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.spacetime.engine import Matches, Pairs
from depthgauge.capture.spacetime.engines.nets_checked import NetsChecked, combined
from depthgauge.capture.spacetime.patterns import make_stacks
from depthgauge.io.text import parse_json
from depthgauge.sessions import Session, open_session, read_simulated
from depthgauge.synth.sets.capture_session import CaptureOptions, write_capture_session
from tools._measured import table, update
from tools.evidence import REPOSITORY, Number, figure, recorded_values, within
from tools.evidence._sources import PIPELINE, SIMULATOR, digest

SESSIONS = (("kitchen", 401, 400), ("desk", 402, 400), ("bathroom", 403, 480))
"""Scene, seed, width in px."""
PATTERNS = (2, 3, 5)
ENGINES = ("classical", "nets-stereo", "nets-checked")
WRONG_PX = 2.0
_WHERE = ("everywhere", "near edges", "thin structures")


class Scene(NamedTuple):
    """The patterns of a session, its range of disparities, and the truth of the left view."""

    pairs: Pairs
    limits: tuple[int, int]
    truth: NDArray[np.float32]
    judged: dict[str, NDArray[np.bool_]]


@figure(
    "networks-spacetime",
    data="simulated sessions with 5 patterns: "
    + "; ".join(f"{scene} {seed}, {width} px" for scene, seed, width in SESSIONS),
    needs=("torch", "embreex"),
)
def networks_spacetime() -> Iterator[Number]:
    """Errors of the left view's raw matches with 2, 3 and 5 patterns, all sessions together.

    Pixels count that both cameras see and a projector reaches; one without a value is wrong.
    """
    scenes = [_scene(_session(*each)) for each in SESSIONS]
    for patterns in PATTERNS:
        found = [_matched(scene, patterns) for scene in scenes]
        numbers: dict[tuple[str, str], float] = {}
        for engine in ENGINES:
            for where in _WHERE:
                errors = np.concatenate(
                    [
                        np.abs(each[engine].disparity - scene.truth)[scene.judged[where]]
                        for scene, each in zip(scenes, found, strict=True)
                    ]
                )
                name = f"{patterns} patterns, {engine}, {where}"
                wrong = 100 * float(np.mean(~(errors <= WRONG_PX)))
                numbers[engine, where] = wrong
                yield Number(f"{name}: wrong by more than 2 px or missing, %", wrong)
                known = errors[np.isfinite(errors)]
                yield Number(f"{name}: mean |error|, px", float(known.mean()))
                yield Number(f"{name}: median |error|, px", float(np.median(known)))
        share = numbers["nets-checked", "everywhere"] / numbers["classical", "everywhere"]
        yield within(f"{patterns} patterns: wrong, nets-checked / classical", share, 0, 1)
        thin = numbers["nets-checked", "thin structures"] / numbers["classical", "thin structures"]
        yield Number(f"{patterns} patterns: wrong in thin, nets-checked / classical", thin)


def _place(name: str, sources: tuple[str, ...]) -> Path:
    return REPOSITORY / "out" / "evidence" / f"{name}-{digest(sources)}"


def _session(scene: str, seed: int, width: int) -> Session:
    folder = _place("networks-spacetime-sessions", SIMULATOR) / f"{scene}-{seed}-{width}"
    options = CaptureOptions(
        scene=scene, seed=seed, width_px=width, patterns=max(PATTERNS), passive=False
    )
    write_capture_session(folder, options=options)
    return open_session(folder)


def _scene(session: Session) -> Scene:
    work = _place("networks-spacetime-work", (*SIMULATOR, *PIPELINE)) / session.folder.name
    for _ in run_steps(session, work, until="spacetime"):
        pass
    pair = read_pair(work, "LR")
    record = parse_json((work / "spacetime" / "patterns.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        size = pair.left.camera.size_px
        stacks, _ = make_stacks(
            session, pair, record["used"], size, Path(folder), _silent, read_movements(work)
        )
        views = (np.array(v) for v in (stacks.left, stacks.right))
        pairs = Pairs(*views, np.array(stacks.left_known), np.array(stacks.right_known))
    exact = exact_truth(read_simulated(session.truth_folder), pair)
    judged = exact.visible & exact.lit & np.isfinite(exact.disparity)
    where = {
        "everywhere": judged,
        "near edges": judged & near_discontinuities(exact.disparity),
        "thin structures": judged & thin_structures(exact.disparity),
    }
    low, high = record["disparities"]
    return Scene(pairs, (low, high), exact.disparity, where)


def _silent(*_: Any) -> None: ...


def _matched(scene: Scene, patterns: int) -> dict[str, Matches]:
    """What each engine finds; the network runs once for both of its engines."""
    pairs = Pairs(
        scene.pairs.left[:patterns],
        scene.pairs.right[:patterns],
        scene.pairs.left_known,
        scene.pairs.right_known,
    )
    both = NetsChecked()
    net = both.network.match(pairs, scene.limits)
    own = both.classical.match(pairs, scene.limits)
    checked = combined(net, both._checked(pairs, net), own)
    return {"classical": own, "nets-stereo": net, "nets-checked": checked}


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/capture-spacetime.md up to date; True where it is."""
    numbers = recorded_values("networks-spacetime")
    if not numbers:
        return False
    rows = []
    for patterns in PATTERNS:
        for engine in ENGINES:
            name = f"{patterns} patterns, {engine}"
            wrong = [
                f"{numbers[f'{name}, {where}: wrong by more than 2 px or missing, %']:.2f}"
                for where in _WHERE
            ]
            exact = [
                f"{numbers[f'{name}, everywhere: {what} |error|, px']:.3f}"
                for what in ("mean", "median")
            ]
            rows.append([str(patterns), f"`{engine}`", *wrong, *exact])
    columns = ["patterns", "engine", "wrong or missing, %", "near edges, %", "thin structures, %"]
    columns += ["mean \\|error\\|, px", "median, px"]
    return update("capture-spacetime.md", {"engines": table(columns, rows)}, "evidence", check)
