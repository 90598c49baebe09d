"""Tables and pictures of docs/rig-scenes.md: every map, one scene by all cameras, baselines, cost.

python -m tools.evidence._rig_page
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.engine.generating.rig_statistics import Draws, Realised
from depthgauge.synth.library.maps import MAPS
from depthgauge.synth.render.shaded import View
from depthgauge.synth.sets.rig import SceneOptions, Shoot, accepted
from depthgauge.synth.sets.rig._film import film
from tools._measured import table, update
from tools.evidence import REPOSITORY, recorded_values

PAGE = "rig-scenes.md"
IMAGES = REPOSITORY / "docs" / "images"
SEED = 41
_SIDE, _GAP = 200, 4
_WIDE_MM, _LEVEL_DEG = 34.0, 16.0
_PANELS = (
    ("IPD_Gaussian", (4.0, 9.0), "adjacent"),
    ("Uniform", (0.0, 150.0), "adjacent"),
    ("Pairwise_Uniform", (0.0, 200.0), "all pairs"),
)

_SIZES = (("480x480", 9), ("1280x1280", 81))
_REASONS = ("spawn", "collision", "visibility", "framing", "motion")

Picture = NDArray[np.uint8]


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of the page up to date; True where they are."""
    numbers = recorded_values("rig")
    parts = {"proposals": _proposals(numbers), "cost": _cost(numbers)}
    return bool(numbers) and update(PAGE, parts, "evidence", check)


def _proposals(numbers: Mapping[str, float]) -> str:
    """How many proposals of each family pass, and why the others do not."""
    rows = []
    for family, _, _ in _PANELS:
        where = f"proposals without rendering, {family}"
        counts = [numbers[f"{where}: rejected, {reason}"] for reason in _REASONS]
        share = f"{numbers[f'{where}: accepted, %']:.1f} %"
        cells = [f"{count:.0f}" for count in (numbers[f"{where}: count"], *counts)]
        rows.append([f"`{family}`", cells[0], share, *cells[1:]])
    return table(["family", "proposals", "accepted", *_REASONS], rows)


def _cost(numbers: Mapping[str, float]) -> str:
    """Core seconds of views and scenes, and scenes an hour."""
    names = ("core seconds a view, with encoding", "core seconds a scene of {} frames")
    rows = []
    for size, frames in _SIZES:
        view, scene = (numbers[f"{size}: {name.format(frames)}"] for name in names)
        hourly = numbers[f"{size}: scenes an hour and core"]
        rows.append([size, str(frames), f"{view:.2f}", f"{scene:.1f}", f"{hourly:.0f}"])
    return table(
        [
            "size",
            "frames",
            "core seconds a view",
            "core seconds a scene",
            "scenes an hour and core",
        ],
        rows,
    )


def draw_maps() -> None:
    """Camera 00 of one scene in every map, four in a row."""
    tiles = [_first(name, "IPD_Gaussian")[0].image for name in MAPS]
    rows = [_beside(tiles[n : n + 4]) for n in range(0, len(tiles), 4)]
    io.write_image(IMAGES / "rig-maps.png", _below(rows))


def draw_scene(name: str = "Street") -> None:
    """All six cameras of a scene, and their depth from near (bright) to far."""
    views = _first(name, "Uniform", 150)
    near = 1 / np.nanmin(np.stack([view.depth for view in views]))
    shades = [np.nan_to_num(1 / view.depth / near) ** 0.6 for view in views]
    depth = [np.repeat(np.uint8(255 * shade)[..., None], 3, axis=-1) for shade in shades]
    rows = [_beside([view.image for view in views]), _beside(depth)]
    io.write_image(IMAGES / "rig-scene.png", _below(rows))


def draw_baselines(found: dict[str, Realised]) -> None:
    """Accepted over proposed baselines of each family, with mean and median."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    picture, panels = plt.subplots(1, 3, figsize=(9.6, 2.7), layout="constrained")
    for panel, (family, span, which) in zip(panels, _PANELS, strict=True):
        part = ("train", family)
        kept, asked = found[family].realised[part], found[family].proposed[part]
        _panel(panel, _values(kept, which), _values(asked, which), span)
        panel.set_title(f"{family}, {which}", fontsize=9)
        panel.set_xlabel("cm")
    picture.savefig(IMAGES / "rig-baselines.png", dpi=100)
    plt.close(picture)


def _panel(panel: Any, kept: list[float], asked: list[float], span: tuple[float, float]) -> None:
    edges = np.linspace(*span, 31)
    shared = {"bins": edges, "density": True}
    panel.hist(kept, color="#5b86b0", label="accepted", **shared)
    panel.hist(asked, color="#555555", histtype="step", label="proposed", **shared)
    panel.axvline(np.mean(kept), color="#b3412f", linestyle="--", label="mean")
    panel.axvline(np.median(kept), color="#b3412f", linestyle=":", label="median")
    panel.legend(frameon=False, fontsize=7)
    panel.set_yticks([])
    panel.spines[["top", "right", "left"]].set_visible(False)


def _values(draws: Draws, which: str) -> list[float]:
    return draws.pairs_cm if which == "all pairs" else draws.gaps_cm


def _first(name: str, family: str, side: int = _SIDE) -> list[View]:
    """The first frame of the first scene in a map whose lens is wide and shows the place."""
    shoot = Shoot(family, (side, side), 2, maps=(name,))
    options = SceneOptions("eval", shoot, SEED, 1.0 if MAPS[name].reserved else 0.0)
    start = 20 * sorted(MAPS).index(name)
    for number in range(start, start + 20):
        found = next(accepted(number, options))
        if found.drawn.focal_mm < _WIDE_MM and found.way.up_deg < _LEVEL_DEG:
            break
    return next(film(found.proposal, found.way, (side, side), 1000.0))


def _beside(tiles: list[Picture]) -> Picture:
    gap = np.full((tiles[0].shape[0], _GAP, 3), 255, np.uint8)
    return np.concatenate([part for tile in tiles for part in (tile, gap)][:-1], axis=1)


def _below(rows: list[Picture]) -> Picture:
    gap = np.full((_GAP, rows[0].shape[1], 3), 255, np.uint8)
    return np.concatenate([part for row in rows for part in (row, gap)][:-1])


if __name__ == "__main__":
    draw_maps()
    draw_scene()
