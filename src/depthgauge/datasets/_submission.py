"""What a public server wants: which files, in which format, how many, packed or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

SubmittedFormat = Literal["png", "flow-png", "pfm", "flo", "dsp5", "flo5"]
"""`png`: 16 bits, one channel, value * 256, 0 missing; `flow-png`: 3 x 16 bits as KITTI has it."""


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """One file per sample."""

    part: str
    """Which map: `disparity`, `second_disparity`, `flow`."""
    path: str | Callable[[str], str]
    """Its place in the submission, with `{sample}`; or `path(sample_id)`."""
    format: SubmittedFormat

    def place(self, sample_id: str) -> str:
        """Where the file of a sample belongs."""
        if callable(self.path):
            return self.path(sample_id)
        return self.path.replace("{sample}", sample_id)


@dataclass(frozen=True, slots=True)
class Submission:
    """The rules of a public server."""

    files: tuple[SubmittedFile, ...]
    """All maps that a submission can have; one of a single quantity has only its own."""
    url: str
    about: str
    """What is handed in, for people."""
    samples: int | None = None
    """How many samples the test split has."""
    archive: bool = False
    """Whether the server takes a zip file of the folder."""
    dense: bool = False
    """Whether every pixel must have a value."""
    runtime: str = ""
    """Where the time of each sample goes, if the server wants it: `low_res_two_view/{sample}.txt`,
    a line `runtime <seconds>`."""

    def files_of(self, parts: Iterable[str]) -> tuple[SubmittedFile, ...]:
        """The files for an estimate that consists of these parts."""
        wanted = set(parts)
        return tuple(file for file in self.files if file.part in wanted)
