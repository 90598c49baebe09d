"""The tables of docs/reconstruction.md about people fused, and about advice."""

from __future__ import annotations

from collections.abc import Mapping

from tools._measured import table, update
from tools.evidence import recorded_values

_ERRORS = {"own": "their own", "own and shared": "their own and shared"}
_SAID = {
    "one person": ", one person: EDist, %",
    "the best person": ", the best one: EDist, %",
    "fused, lines not fitted": ", fused without fitting lines: EDist, %",
    "fused": ", fused: EDist, %",
    "fused is better than the best, % of scenes": ": scenes in which the fusion is best, %",
}
_ADVICE = {
    "error left after the first normal that advice names": (
        "error left after 1 normal(s) of the advice",
        "{:.2f}",
    ),
    "error left after any normal": ("error left after any 1 normal(s)", "{:.2f}"),
    "error left after the first three": ("error left after 3 normal(s) of the advice", "{:.2f}"),
    "error left after any three": ("error left after any 3 normal(s)", "{:.2f}"),
    "rank correlation of uncertainty and error": (
        "uncertainty and error: rank correlation",
        "{:.2f}",
    ),
    "a wrong stroke is named first, %": ("wrong stroke named first, %", "{:.0f}"),
    "it is among the first three, %": ("wrong stroke among the first three, %", "{:.0f}"),
    "any stroke is the wrong one, %": ("wrong stroke named by chance, %", "{:.0f}"),
}


def write_page(*, check: bool = False) -> bool:
    """Brings both tables up to date; True where they are."""
    fusion, advice = recorded_values("oasis-fusion"), recorded_values("oasis-advice")
    if not fusion or not advice:
        return False
    parts = {"fusion": fusion_table(fusion), "advice": advice_table(advice)}
    return update("reconstruction.md", parts, "evidence", check)


def fusion_table(numbers: Mapping[str, float]) -> str:
    """EDist in percent of the depth range, by the errors that people make."""
    rows = []
    for name, said in _ERRORS.items():
        values = [numbers[f"8 people with {name} errors{end}"] for end in _SAID.values()]
        rows.append([said, *(f"{v:.2f}" for v in values[:-1]), f"{values[-1]:.0f}"])
    alone = f"{numbers['shared errors alone: EDist, %']:.2f}"
    rows.append(["shared only (one person)", alone, "", "", "", ""])
    return table(["people's errors", *_SAID], rows)


def advice_table(numbers: Mapping[str, float]) -> str:
    """What following advice does."""
    rows = [[said, form.format(numbers[name])] for said, (name, form) in _ADVICE.items()]
    return table(["", "measured"], rows)
