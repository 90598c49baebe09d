"""The capture pipeline at the size of a 12.4-megapixel camera, from photographs to the dataset.

One simulated session of 4112x3008 px, of a room, seed and size that nothing was tuned on. Session,
work folder, times and memory are kept in out/evidence, so a stopped measurement goes on where it
was. Budgets are those of the sessions of 1168 px, and were written down before this was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools._measured import table, update
from tools.capture_full import FullSession, measured_matching, measured_run
from tools.evidence import Number, figure, recorded_values, within
from tools.evidence._code import REPOSITORY
from tools.evidence._sources import PIPELINE, SIMULATOR, digest

FULL = FullSession("bathroom", 125, width_px=4112, patterns=100, samples=4)
SIZE = f"{FULL.width_px}x3008 px"
MOST_GIB = 8.0
"""What a step may need; labels of 12.4 Mpx are 50 MB a map."""
MOST_MATCHING_S = 9000.0
"""150 minutes of processor time for all patterns."""
FEW = 25
"""Patterns that are matched too, to see how the time grows."""
AIMS = {
    "mean |error| of kept pixels, px": (0.0, 0.15),
    "planar residual, px": (0.0, 0.06),
    "kept of what both see and is lit, %": (95.0, 100.0),
    "kept and right within 3 px of discontinuities, %": (65.0, 100.0),
    "kept pixels wrong by more than 2 px, %": (0.0, 0.2),
    "worst object, wrong by more than 2 px, %": (0.0, 5.0),
    "thin structures, kept and right, %": (60.0, 100.0),
}
"""Least and most, as for sessions of 1168 px."""
_CLASSES = ("0", "1", "2", "3")
_BY_CLASS = {
    "mean |error|, px": "mean_abs_px",
    "median |error|, px": "median_abs_px",
    "wrong by more than 2 px, %": "bad_2_percent",
    "kept, %": "kept_percent",
}


@figure(
    "capture-full",
    data=f"a simulated session of {SIZE}: {FULL.scene} {FULL.seed}, {FULL.patterns} patterns, 18 "
    f"board poses, passive images with {FULL.samples} light paths per pixel",
    needs=("embreex", "mitsuba"),
)
def capture_full() -> Iterator[Number]:
    """Time, memory and accuracy by class of the capture pipeline at full size.

    Every step runs in a process of its own with its default options; patterns are matched at half
    scale and labels refined at full size. Error bars are reported, not promised, at this size.
    """
    session = _place("full-session", SIMULATOR)
    work = _place("full-work", (*SIMULATOR, *PIPELINE))
    found = measured_run(FULL, session, work)
    yield from _costs(found["stages"])
    yield from _scaling(found["stages"]["spacetime"], measured_matching(session, work, FEW))
    yield from _accuracy(found["audit"])


def _place(name: str, sources: tuple[str, ...]) -> Path:
    """A folder that belongs to the code as it is: steps do not notice changed code."""
    return REPOSITORY / "out" / "evidence" / f"{name}-{digest(sources)}" / FULL.name


def _costs(stages: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    for stage, used in stages.items():
        if stage == "spacetime":
            yield within(f"{stage}: processor time, s", used["cpu_s"], 0.0, MOST_MATCHING_S)
        else:
            yield Number(f"{stage}: processor time, s", used["cpu_s"])
        yield Number(f"{stage}: wall time on a busy machine, s", used["wall_s"])
        yield Number(f"{stage}: peak memory, GiB", used["peak_gib"])
    steps = [used for stage, used in stages.items() if stage != "simulate"]
    yield Number("all steps: processor time, s", sum(used["cpu_s"] for used in steps))
    most = max(used["peak_gib"] for used in steps)
    yield within("all steps: peak memory, GiB", most, 0.0, MOST_GIB)


def _scaling(full: Mapping[str, Any], few: Mapping[str, Any]) -> Iterator[Number]:
    """How time and memory grow with the number of patterns."""
    yield Number(f"spacetime, {FEW} patterns: processor time, s", few["cpu_s"])
    yield Number(f"spacetime, {FEW} patterns: peak memory, GiB", few["peak_gib"])
    each = (full["cpu_s"] - few["cpu_s"]) / (FULL.patterns - FEW)
    yield Number("spacetime, one more pattern: processor time, s", each)


def _accuracy(audit: Mapping[str, Any]) -> Iterator[Number]:
    true = audit["simulated"]
    final = true["final"]
    values = (
        final["mean_abs_px"],
        audit["planes"]["mean_residual_px"],
        final["kept_percent"],
        final["kept_near_edges_percent"],
        final["bad_2_percent"],
        true["worst_object"]["bad_2_percent"],
        true["thin"]["kept_and_right_percent"],
    )
    for (name, (least, most)), value in zip(AIMS.items(), values, strict=True):
        yield within(name, value, least, most)
    parts = {"all": final, "unbalanced pair": true["unbalanced"]}
    parts |= {f"class {c}": true["materials"][c] for c in _CLASSES if c in true["materials"]}
    for part, figures in parts.items():
        yield Number(f"{part}: labels", figures["pixels"])
        for name, key in _BY_CLASS.items():
            yield Number(f"{part}: {name}", figures[key])
    yield Number("metric depth: mean |error|, mm", true["depth"]["mean_abs_mm"])
    bars = {"balanced": true["error_bars"], "unbalanced": true["unbalanced"]["error_bars"]}
    for pair, figures in bars.items():
        for times in (1, 2):
            share = figures[f"within_{times}_sigma_percent"]
            yield Number(f"{pair}: within {times} sigma, %", share)


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of docs/capture.md up to date; True where they are."""
    numbers = recorded_values("capture-full")
    if not numbers:
        return False
    parts = {"full size": _aims_table(numbers), "full cost": _cost_table(numbers)}
    parts |= {"full classes": _class_table(numbers), "full bars": _bars_table(numbers)}
    return update("capture.md", parts, "evidence", check)


def _aims_table(numbers: Mapping[str, float]) -> str:
    rows = []
    for name, (least, most) in AIMS.items():
        aim = f"at least {least:g}" if most == 100.0 else f"below {most:g}"
        rows.append([name, f"{numbers[name]:.3f}", aim])
    return table([f"{SIZE}, {FULL.patterns} patterns", FULL.scene, "aim"], rows)


def _class_table(numbers: Mapping[str, float]) -> str:
    parts = [name.removesuffix(": labels") for name in numbers if name.endswith(": labels")]
    columns = ("labels", *_BY_CLASS)
    rows = [[p, *(_shown(n, numbers[f"{p}: {n}"]) for n in columns)] for p in parts]
    return table(["", *columns], rows)


def _shown(name: str, value: float) -> str:
    return f"{value:,.0f}" if name == "labels" else f"{value:.3f}"


def _bars_table(numbers: Mapping[str, float]) -> str:
    columns = ("within 1 sigma, %", "within 2 sigma, %")
    nominal = ["nominal", "68.3", "95.4"]
    pairs = ("balanced", "unbalanced")
    rows = [[p, *(f"{numbers[f'{p}: {c}']:.1f}" for c in columns)] for p in pairs]
    return table(["labels", *columns], [*rows, nominal])


def _cost_table(numbers: Mapping[str, float]) -> str:
    time, memory = ": processor time, s", ": peak memory, GiB"
    rows = []
    for stage in (name.removesuffix(time) for name in numbers if name.endswith(time)):
        peak = numbers.get(stage + memory)
        shown = "" if peak is None else f"{peak:.2f}"
        seconds = numbers[stage + time]
        rows.append([stage, f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.1f}", shown])
    return table(["step", time.removeprefix(": "), memory.removeprefix(": ")], rows)
