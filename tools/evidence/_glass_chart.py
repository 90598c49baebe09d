"""The chart of docs/layers-scenes.md: both layers' errors against the strength of the glass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.evidence import REPOSITORY, recorded_values
from tools.evidence.glass_strength import AXES, METHODS

_TITLES = {
    "index": "refractive index",
    "tint": "light taken by each surface",
    "roughness": "roughness",
}
TARGET = REPOSITORY / "docs" / "images" / "glass-strength.png"


def draw() -> None:
    """Draws the recorded curves to docs/images/glass-strength.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    numbers = recorded_values("glass-strength")
    picture, panels = plt.subplots(1, 3, figsize=(9.6, 2.9), sharey=True, layout="constrained")
    for panel, (axis, values) in zip(panels, AXES.items(), strict=True):
        _curves(panel, axis, values, numbers)
    panels[0].set_ylabel("mean error of the flow, px")
    panels[0].set_ylim(0)
    panels[-1].legend(frameon=False, fontsize=8, loc="center right")
    picture.savefig(TARGET, dpi=100)
    plt.close(picture)


def _curves(panel: Any, axis: str, values: Sequence[float], numbers: dict[str, float]) -> None:
    looks = {
        ("dis", 1): ("#b3412f", "o-", "dis, the glass itself"),
        ("dis", 2): ("#2f5d8a", "o-", "dis, what is behind it"),
        (METHODS[1], 1): ("#d9a03c", "s--", "peel, the glass itself"),
        (METHODS[1], 2): ("#2a8a5c", "s--", "peel, what is behind it"),
    }
    for (method, layer), (colour, marks, label) in looks.items():
        errors = [numbers[f"{axis} {v:g}, {method}, layer {layer}: EPE, px"] for v in values]
        looks_like = {"color": colour, "label": label, "markersize": 5, "linewidth": 1.5}
        panel.plot(values, errors, marks, markerfacecolor="none", **looks_like)
    panel.set_xlabel(_TITLES[axis])
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
