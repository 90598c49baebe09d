"""Which images of a sample a perturbation is for, and where their random numbers come from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

SELECTIONS = ("all", "left", "right", "first", "second", "centre", "others")
"""What may stand behind the `@` of a perturbation."""
REFERENCES = ("left", "first", "centre", "image")
"""The views whose pixels the truth belongs to."""

IMAGES = {
    "left_image": "left",
    "right_image": "right",
    "first_image": "first",
    "second_image": "second",
    "centre_image": "centre",
    "image": "image",
}
"""From the item to the name of its view."""
GRID = "views"
"""The item with all views of a camera grid: (rows, columns, H, W, 3)."""
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class View:
    """One image of a sample."""

    name: str
    """`left`, `right`, `first`, `second`, `centre`, `image`; `other` for the rest of a grid."""
    key: str
    """What distinguishes its random numbers from those of the sample's other images."""

    def is_in(self, selection: str) -> bool:
        """Whether a perturbation with that selection is for it."""
        if selection == "others":
            return self.name not in REFERENCES
        return selection in ("all", self.name)


def view_of_item(item: str) -> View:
    """The view of an item that is one image."""
    # The centre image is the centre of the grid, so both must be perturbed in the same way.
    return view_of_grid(0, 0) if item == "centre_image" else View(IMAGES[item], item)


def view_of_grid(down: int, right: int) -> View:
    """The view of a camera grid that many steps from its centre."""
    name = "centre" if down == right == 0 else _OTHER
    return View(name, f"{GRID}[{down:+d},{right:+d}]")


def names_of_items(items: set[str]) -> set[str]:
    """The views that a sample with those items has."""
    found = {name for item, name in IMAGES.items() if item in items}
    return found | {"centre", _OTHER} if GRID in items else found


def stream(sample_id: str, view: View, effect: str, nth: int) -> np.random.Generator:
    """The random numbers of one effect on one view: the same on every machine, at every level.

    Args:
        sample_id: Id of the sample.
        view: One of its images.
        effect: The effect's name.
        nth: How many parts of that effect the view has had before.
    """
    key = "\x1f".join((sample_id, view.key, effect, str(nth)))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key.encode()).digest(), "big"))
