"""What a dataset layout declares, and the registry of all of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from depthgauge._declared import refuse, spec_problems
from depthgauge._registry import Registry, unknown
from depthgauge.datasets._submission import Submission
from depthgauge.errors import BadData, Unavailable
from depthgauge.types import Estimate, Sample


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """What is known about a dataset before any of it is read."""

    id: str
    title: str
    quantities: tuple[str, ...]
    """What its truth can contain; empty: any quantity."""
    splits: tuple[str, ...]
    """Empty: the data itself defines its splits."""
    licence: str
    cite: str
    homepage: str
    sample_layout: str
    """The files on disk in one line, for the docs and for error messages."""
    estimate_layouts: tuple[str, ...] = ()
    """Public layouts of estimates, with the placeholders `{sample}`, or `{folder}` and `{file}` for
    the parts before and after its last `/`, `{head}` and `{tail}` for those around its last `_`;
    `{name}` (of the method) and `{quantity}`."""
    quantity_layouts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Public layouts of one quantity only: `{"planes": ("planar/{sample}.txt",)}`."""
    fallback_layouts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Layouts of a quantity of several parts, for estimates without the main one: the first that
    is there is taken, if no other layout has a file."""
    submission: Submission | None = None
    """What the public server of the dataset wants."""
    not_estimates: tuple[str, ...] = ()
    """File names that fit `estimate_layouts` but hold the truth."""
    png_scales: Mapping[str, float] = field(default_factory=dict)
    """Codes per unit of 16-bit PNG estimates that do not state it, by quantity; 256 by default."""
    lists_hashes: bool = False
    """Whether the layout lists hashes of its files: then its reader takes `trust`, which skips
    their comparison."""
    facts: tuple[str, ...] = ()
    """Numbers and words of the truth by which results are split; runs keep them: `baseline_m`."""
    revision: int = 1
    """Raised whenever the reader may change a value."""


class Reader(Protocol):
    """`samples(root, split, **options)` of a dataset module."""

    def __call__(self, root: Path, split: str = ..., **options: Any) -> Iterator[Sample]:
        """The samples of a split, in the order of their ids."""
        ...


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset layout: its declaration, its reader and perhaps its writer."""

    spec: DatasetSpec
    reader: Reader
    writer: Callable[..., None] | None = None
    estimate_reader: Callable[[Path, str], Estimate | None] | None = None
    """Reads a file of its public submissions; returns None if the file is an ordinary map."""

    @property
    def id(self) -> str:
        """The name in the registry."""
        return self.spec.id

    @property
    def revision(self) -> int:
        """Raised whenever the reader may change a value."""
        return self.spec.revision

    def samples(self, root: Path, split: str = "all", **options: Any) -> Iterator[Sample]:
        """The samples of a split, at least one; their maps are read on first use."""
        return self.reader(root, split, **options)

    def write(self, root: Path, samples: Iterable[Sample], **options: Any) -> None:
        """Writes samples in this layout.

        Raises:
            Unavailable: The layout has no writer.
        """
        if self.writer is None:
            raise Unavailable(
                f"dataset '{self.id}' can be read but not written; "
                "write a 'depthgauge' folder instead."
            )
        self.writer(root, samples, **options)


def reader(spec: DatasetSpec) -> Callable[[Callable[..., Iterator[Sample]]], Reader]:
    """Adds the checks that every reader needs: split known, folder there, at least one sample."""

    def wrap(read: Callable[..., Iterator[Sample]]) -> Reader:
        @functools.wraps(read)
        def samples(root: Path, split: str = "all", **options: Any) -> Iterator[Sample]:
            root = Path(root)
            if spec.splits and split not in spec.splits:
                raise unknown(f"{spec.id} split", split, spec.splits)
            if not _is_folder(root):
                raise BadData(f"{root}: there is no such folder. {expected(spec)}")
            found = read(root, split, **options)
            # The first sample is read here, so that mistakes are raised by the call itself.
            first = next(found, None)
            if first is None:
                raise BadData(f"{root}: no sample of split '{split}'. {expected(spec)}")
            return itertools.chain([first], found)

        return samples

    return wrap


def _is_folder(root: Path) -> bool:
    try:
        return root.resolve(strict=True).is_dir()
    except (OSError, RuntimeError):  # missing, or a cycle of links
        return False


def expected(spec: DatasetSpec) -> str:
    """The sentence that says what the folder of a dataset looks like."""
    return f"Expected for '{spec.id}': {spec.sample_layout}."


def _collect(module: object) -> Iterator[tuple[str, Dataset]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, DatasetSpec):
        refuse("dataset", spec.id, module, spec_problems(spec, module, "samples"))
        yield (
            spec.id,
            Dataset(
                spec,
                module.samples,  # type: ignore[attr-defined]  # a module with a SPEC has samples
                getattr(module, "write", None),
                getattr(module, "read_estimate", None),
            ),
        )


DATASETS: Registry[Dataset] = Registry(
    "dataset", "depthgauge.datasets", collect=_collect, groups=("monocular", "pairs")
)
"""All dataset layouts by id; a module of this folder joins by having a `SPEC`."""
