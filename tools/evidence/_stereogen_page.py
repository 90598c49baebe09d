"""The tables of docs/benchmarks/stereogenbench.md, from the record of stereogen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from depthgauge.analysis.strata import BASELINE_CM, bins
from depthgauge.engine.running.controls import CONTROLS
from tools._measured import table, update
from tools.evidence import REPOSITORY as REPOSITORY
from tools.evidence import recorded_values
from tools.evidence.stereogen import METHODS

PAGE = "benchmarks/stereogenbench.md"
BRANCHES = ("Uniform", "IPD_Gaussian", "Unseen-Uniform", "Unseen-IPD_Gaussian")
TIERS = dict(zip(METHODS, ("G0", "G1", "G2", "G2"), strict=True))
_MAIN = {
    "psnr": "PSNR",
    "ssim": "SSIM",
    "lpips": "LPIPS",
    "e_match": "E_Match",
    "p_psnr": "P-PSNR",
    "sd": "SD",
    "fid": "FID",
    "fvd": "FVD",
}
_BINNED = ("psnr", "ssim", "lpips", "e_match", "p_psnr", "sd")
_DIGITS = {"psnr": 2, "e_match": 2, "p_psnr": 2, "fid": 2, "fvd": 2}
Numbers = Mapping[str, float]


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of the page up to date; True where they are."""
    numbers = recorded_values("stereogen")
    return bool(numbers) and update(PAGE, parts(numbers), "evidence", check)


def parts(numbers: Numbers) -> dict[str, str]:
    """The measured parts of the page by their names."""
    return {
        "branches": _branches(numbers),
        "controls": _controls(numbers),
        "baselines": _baselines(numbers),
        "implied": _implied(numbers),
        "cost": f"Scoring a frame at 832x480 takes {_of(numbers, _COST, 2)} s on one core of a "
        "busy machine, with all frame-wise metrics.",
    }


_COST = "seconds to score a frame at 832x480"


def _branches(numbers: Numbers) -> str:
    rows = [
        [f"`{m}`", "image", TIERS[m], b, *_values(numbers, f"{b}, {m}", _MAIN)]
        for m in METHODS
        for b in BRANCHES
        if f"{b}, {m}: psnr" in numbers
    ]
    return table(["method", "type", "tier", "branch", *_MAIN.values()], rows)


def _controls(numbers: Numbers) -> str:
    shown = [name for name in _MAIN if name != "fvd"]
    rows = [[k.label, *_values(numbers, f"control, {k.label}", shown)] for k in CONTROLS]
    return table(["control", *(_MAIN[name] for name in shown)], rows)


def _baselines(numbers: Numbers) -> str:
    rows = [
        [
            f"`{m}` / {TIERS[m]}",
            b.name,
            _of(numbers, f"{b.name}, {m}: scenes", 0),
            *_values(numbers, f"{b.name}, {m}", _BINNED, halves=True),
        ]
        for m in METHODS
        for b in bins(BASELINE_CM)
        if f"{b.name}, {m}: scenes" in numbers
    ]
    head = ["method / tier", "baseline (cm)", "N_s", *(_MAIN[name] for name in _BINNED)]
    return table(head, rows)


def _implied(numbers: Numbers) -> str:
    rows = []
    for m in METHODS:
        for b in BRANCHES[:2]:
            name = f"{b}, {m}: implied baseline"
            keys = ("asked, cm", "cm", "low, cm", "high, cm", "follows")
            values = [_of(numbers, f"{name}, {key}", 2) for key in keys]
            bounds = "-" if values[2] == "-" else f"[{values[2]}, {values[3]}]"
            rows.append([f"`{m}`", TIERS[m], b, values[0], values[1], bounds, values[4]])
    head = ["method", "tier", "branch", "asked (cm)", "implied (cm)", "95 % interval", "follows"]
    return table(head, rows)


def _values(
    numbers: Numbers, row: str, metrics: Sequence[str] | Mapping[str, str], halves: bool = False
) -> list[str]:
    found = []
    for metric in metrics:
        digits = _DIGITS.get(metric, 4)
        text = _of(numbers, f"{row}: {metric}", digits)
        half = _of(numbers, f"{row}: {metric} half", digits)
        found.append(f"{text} \u00b1 {half}" if halves and half != "-" else text)
    return found


def _of(numbers: Numbers, name: str, digits: int) -> str:
    value = numbers.get(name)
    return "-" if value is None else f"{value:.{digits}f}"
