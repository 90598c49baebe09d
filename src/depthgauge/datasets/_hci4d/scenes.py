"""The scenes of the 4D light field benchmark by category, and what they have in common."""

from __future__ import annotations

SCENES = {
    "stratified": ("backgammon", "dots", "pyramids", "stripes"),
    "training": ("boxes", "cotton", "dino", "sideboard"),
    "test": ("bedroom", "bicycle", "herbs", "origami"),
    "additional": (
        "antinous",
        "boardgames",
        "dishes",
        "greek",
        "kitchen",
        "medieval2",
        "museum",
        "pens",
        "pillows",
        "platonic",
        "rosemary",
        "table",
        "tomb",
        "tower",
        "town",
        "vinyl",
    ),
}
"""All 28 scenes; the truth of `test` is not public."""
BENCHMARK = (*SCENES["stratified"], *SCENES["training"], *SCENES["test"])
"""The twelve scenes of a submission, in the benchmark's order."""
OTHER = "other"
"""The category of scenes that are not part of the benchmark."""
CATEGORIES = (*SCENES, OTHER)
IMAGE_SIZE = (512, 512)
"""Height and width of every view and of every estimate."""
DISPARITY_RANGES = {
    "backgammon": (-1.7, 0.7),
    "dots": (-0.7, 0.9),
    "pyramids": (-1.7, 1.2),
    "stripes": (-0.3, 0.6),
    "boxes": (-2.2, 1.4),
    "cotton": (-1.6, 1.5),
    "dino": (-1.9, 1.9),
    "sideboard": (-2.0, 1.7),
    "bedroom": (-1.7, 2.2),
    "bicycle": (-1.7, 1.7),
    "herbs": (-3.1, 1.8),
    "origami": (-2.0, 1.7),
}
"""`disp_min` and `disp_max` in the published parameters.cfg of the twelve scenes."""
_CATEGORY_OF = {scene: category for category, scenes in SCENES.items() for scene in scenes}


def category_of(scene: str) -> str:
    """The category of a scene by its name.

    >>> category_of("cotton"), category_of("my_kitchen")
    ('training', 'other')
    """
    return _CATEGORY_OF.get(scene, OTHER)


def scenes_of(split: str) -> tuple[str, ...] | None:
    """The scenes of a split; None for `all`, which accepts any scene."""
    if split == "all":
        return None
    return BENCHMARK if split == "benchmark" else SCENES[split]
