"""Whether the estimate of one sample is that of another: files that were named one too far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from depthgauge.engine.scoring.comparison import Circumstances, Comparison, compare_pixels
from depthgauge.types import Map, Note

_MOST_COMPARISONS = 20_000
"""Of an estimate with another sample's truth; more would take longer than a second."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Some pixels of an estimate and its truth, kept to be compared with other samples."""

    shape: tuple[int, ...]
    pixels: Comparison
    misfit: bool
    """Whether the estimate does not fit its own truth."""


def fingerprint(
    estimate: Map, truth: Map, quantity: str, about: Circumstances
) -> Fingerprint | None:
    """What is kept of a sample; None where nothing can be told."""
    pixels = compare_pixels(estimate, truth, quantity, about)
    if pixels is None:
        return None
    return Fingerprint(truth.shape, pixels, misfit=not pixels.fits)


def find_mixups(prints: Mapping[str, Fingerprint]) -> dict[str, Note]:
    """By sample: a note that its estimate fits another sample's truth clearly better."""
    found: dict[str, Note] = {}
    left = _MOST_COMPARISONS
    for name, own in prints.items():
        if not own.misfit:
            continue
        others = [(n, p) for n, p in prints.items() if n != name and p.shape == own.shape]
        errors = {n: own.pixels.errors_against(p.pixels) for n, p in others[:left]}
        left -= len(errors)
        best = min(errors, key=lambda name: sum(errors[name]), default="")
        if best and own.pixels.is_beaten_by(errors[best], prints[best].pixels):
            median = {"error": own.pixels.present.median, "error_otherwise": errors[best].median}
            text = f"The estimate fits the truth of sample '{best}' clearly better than its own."
            advice = "Are estimates named after other samples, or counted from another number?"
            found[name] = Note("other-sample", text, advice, numbers=median, sample=name)
        if left <= 0:
            break
    return found
