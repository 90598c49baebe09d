"""What was proposed and what became of it: baselines, lenses, maps and reasons of rejections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.datasets._stereogen import names
from depthgauge.io.text import read_json
from depthgauge.synth.sets.rig import (
    REASONS,
    Limits,
    Rejected,
    SceneOptions,
    Shoot,
    connect,
    draw,
    pairs_of,
    placed,
    source,
)

Part = tuple[str, str]
"""A split and a family."""


@dataclass(slots=True)
class Draws:
    """Values of one part of a set."""

    gaps_cm: list[float] = field(default_factory=list)
    pairs_cm: list[float] = field(default_factory=list)
    focal_mm: list[float] = field(default_factory=list)
    maps: dict[str, int] = field(default_factory=dict)

    def add(self, gaps_cm: Sequence[float], focal_mm: float, map_name: str) -> None:
        """One more scene."""
        self.gaps_cm += gaps_cm
        self.pairs_cm += pairs_of(tuple(gaps_cm))
        self.focal_mm.append(focal_mm)
        self.maps[map_name] = self.maps.get(map_name, 0) + 1


@dataclass(slots=True)
class Realised:
    """Proposed against realised scenes of a set."""

    proposed: dict[Part, Draws] = field(default_factory=dict)
    realised: dict[Part, Draws] = field(default_factory=dict)
    rejected: dict[Part, dict[str, int]] = field(default_factory=dict)
    unseen: dict[Part, int] = field(default_factory=dict)
    """Scenes in maps that training does not show."""

    def to_json(self) -> dict[str, Any]:
        """Numbers of every part."""
        return {
            f"{split} {family}": {
                "scenes": len(found.focal_mm),
                "unseen_maps": self.unseen.get((split, family), 0),
                "adjacent_cm": summary(found.gaps_cm),
                "pairwise_cm": summary(found.pairs_cm),
                "focal_mm": summary(found.focal_mm),
                "maps": dict(sorted(found.maps.items())),
                "proposed": self._proposed((split, family)),
                "rejected": self.rejected.get((split, family), {}),
            }
            for (split, family), found in sorted(self.realised.items())
        }

    def _proposed(self, part: Part) -> dict[str, Any]:
        drawn = self.proposed.get(part, Draws())
        return {
            "count": len(drawn.focal_mm),
            "adjacent_cm": summary(drawn.gaps_cm),
            "focal_mm": summary(drawn.focal_mm),
        }


def summary(values: Iterable[float]) -> dict[str, float]:
    """Count, range, mean, deviation of the population, and median.

    >>> summary([1.0, 2.0, 6.0])["mean"]
    3.0
    """
    found = np.asarray(list(values), np.float64)
    if not found.size:
        return {"count": 0}
    return {
        "count": int(found.size),
        "min": float(found.min()),
        "max": float(found.max()),
        "mean": float(found.mean()),
        "std": float(found.std()),
        "median": float(np.median(found)),
    }


def realised(root: Path, rows: Sequence[Mapping[str, Any]]) -> Realised:
    """The statistics of a finished set; proposals are drawn again from their seeds."""
    found = Realised()
    for row in rows:
        part = (str(row["split"]), str(row["regime"]))
        assets = read_json(root / row["path"] / names.BASELINE)["assets"]
        made = found.realised.setdefault(part, Draws())
        made.add(row["baselines_adjacent_cm"], row["focal_length_mm"], row["map_name"])
        found.unseen[part] = found.unseen.get(part, 0) + (row["eval_subset"] == names.UNSEEN)
        counts = found.rejected.setdefault(part, {})
        for why, number in assets.get("rejected_before", {}).items():
            counts[why] = counts.get(why, 0) + int(number)
        if "proposal" in assets:
            _draw_again(found, part, root, assets)
    return found


def _draw_again(found: Realised, part: Part, root: Path, assets: Mapping[str, Any]) -> None:
    record = root / f"metadata/rig-{part[0]}-{part[1]}.json"
    if not record.is_file():
        return
    body = read_json(record)
    options = _options(body)
    drawn = found.proposed.setdefault(part, Draws())
    number = int(assets["number"])
    for attempt in range(int(assets["proposal"]) + 1):
        rng = source(number, attempt, options)
        made = draw(rng, options.shoot, reserved=options.reserved(number))
        drawn.add(made.gaps_cm, made.focal_mm, made.map_name)


def _options(body: Mapping[str, Any]) -> SceneOptions:
    """The options that a record of a part describes."""
    shoot = Shoot(
        str(body["family"]),
        (int(body["size_px"][0]), int(body["size_px"][1])),
        int(body["frames"]),
        float(body["fps"]),
        tuple(body["maps"]),
        tuple(body["subjects"]),
        tuple(body["actions"]),
        Limits(**body["limits"]),
    )
    return SceneOptions(str(body["split"]), shoot, int(body["seed"]), float(body["unseen"]))


def proposals(options: SceneOptions, numbers: Iterable[int]) -> Realised:
    """What becomes of one proposal for every number, without rendering: thousands are quick.

    Checks of rendered frames are left out.
    """
    found, part = Realised(), (options.split, options.shoot.family)
    drawn, kept = Draws(), Draws()
    counts = dict.fromkeys(REASONS[:5], 0)
    unseen = 0
    for number in numbers:
        rng = source(number, 0, options)
        made = draw(rng, options.shoot, reserved=options.reserved(number))
        drawn.add(made.gaps_cm, made.focal_mm, made.map_name)
        try:
            connect(placed(made, rng, options.shoot), rng, options.shoot.limits)
        except Rejected as why:
            counts[why.reason] += 1
            continue
        kept.add(made.gaps_cm, made.focal_mm, made.map_name)
        unseen += options.reserved(number)
    found.proposed[part], found.realised[part] = drawn, kept
    found.rejected[part], found.unseen[part] = counts, unseen
    return found
