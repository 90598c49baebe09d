"""Test splits: what is published has no truth; the truth goes to a folder of its own.

Everything that writes a test split asks here. The other folder is a complete dataset of the same
layout, images included, so that it can be scored as it is; only the evaluator has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from depthgauge.errors import Misuse
from depthgauge.types import Sample


def is_test_split(split: str) -> bool:
    """Whether the truth of a split is kept from its images.

    >>> is_test_split("test"), is_test_split("test-stereo"), is_test_split("val")
    (True, True, False)
    """
    return split.partition("-")[0] == "test"


def folder_of_truth(out: Path, split: str, with_truth: Path | None) -> Path | None:
    """The folder that a test split is written to with its truth; None if it is not wanted.

    Raises:
        Misuse: The split is no test split, or one of the folders is inside the other.
    """
    if with_truth is None:
        return None
    if not is_test_split(split):
        raise Misuse(
            f"split '{split}' has its truth beside its images; leave out --with-truth (with_truth)"
        )
    published, kept = Path(out).resolve(), Path(with_truth).resolve()
    if published.is_relative_to(kept) or kept.is_relative_to(published):
        raise Misuse(
            f"{with_truth}: the truth would be published with {out}; give --with-truth "
            "(with_truth) a folder that is neither inside of it nor around it"
        )
    return Path(with_truth)


def without_truth(samples: Iterable[Sample]) -> Iterator[Sample]:
    """The same samples as methods may see them."""
    return (replace(sample, truth=None) for sample in samples)
