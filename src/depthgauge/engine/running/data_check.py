"""Whether the data of a run is still what its scores were made from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from depthgauge.datasets import frames_hash, things_hash
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.engine.store.data_record import DataRecord, Mark, marks_of, read_record
from depthgauge.engine.store.record import Run
from depthgauge.errors import (
    BadData,
    DepthgaugeError,
    LostSample,
    Unavailable,
    UnreadableInput,
)
from depthgauge.perturbations import parse_perturbation, perturb_inputs
from depthgauge.types import Frames, Inputs, Sample

TRUTH = "the truth"


@dataclass(frozen=True)
class DataState:
    """What is known about the data of a run now."""

    state: Literal["same", "changed", "absent", "not recorded"]
    changed: Mapping[str, str] = field(default_factory=dict)
    """By sample: which items changed, in words."""

    @property
    def sentence(self) -> str:
        """What to tell people; empty where the data is the same."""
        if self.state == "same":
            return ""
        if self.state == "absent":
            return "The data of this run is not there: nobody can say whether it has changed."
        if self.state == "not recorded":
            return "This run did not record its inputs: nobody can say whether they have changed."
        sample, what = next(iter(self.changed.items()))
        more = f" (and {len(self.changed) - 1} more)" if len(self.changed) > 1 else ""
        return f"{what} of sample '{sample}'{more} changed since the run"


def changed_samples(
    samples: Iterable[Sample],
    root: Path,
    record: DataRecord,
    truths: Mapping[str, str],
    rules: Rules,
) -> tuple[dict[str, str], dict[str, dict[str, Mark]]]:
    """Samples whose values are no longer those that were scored, and the marks of all files.

    Files are read only where the marks of a sample differ from the record.

    Args:
        samples: As the data has them now.
        root: The data's folder.
        record: What the run recorded.
        truths: By sample: the hash of the truth that was scored against.
        rules: Those of the run.
    """
    changed: dict[str, str] = {}
    marks: dict[str, dict[str, Mark]] = {}
    for sample in samples:
        marks[sample.id] = marks_of(sample, root)
        if sample.id not in truths or record.files.get(sample.id) == marks[sample.id]:
            continue
        known = record.inputs.get(sample.id, {})
        if what := _changes(sample, known, truths[sample.id], rules):
            changed[sample.id] = " and ".join(what)
    return changed, marks


def _changes(sample: Sample, known: Mapping[str, str], truth: str, rules: Rules) -> list[str]:
    inputs = sample.inputs.fresh()
    if rules.protocol.perturb:
        inputs = perturb_inputs(inputs, parse_perturbation(rules.protocol.perturb), sample.id)
    found = [name for name in known if _hash(inputs, name) != known[name]]
    try:
        same = not truth or Judge(rules).hash_of(sample) == truth
    except DepthgaugeError:
        same = False  # it can no longer be read
    return found if same else [*found, TRUTH]


def _hash(inputs: Inputs, name: str) -> str:
    try:
        return input_hash(inputs[name])
    except (DepthgaugeError, KeyError):
        return ""


def input_hash(thing: object) -> str:
    """SHA-256 of an input's values; of a clip, one frame at a time."""
    return things_hash({"": thing})


def input_hashes(inputs: Inputs, leave_out: Collection[str] = ()) -> dict[str, str]:
    """The hashes of the inputs that were read, other than clips."""
    there = {n: v for n, v in inputs.at_hand().items() if n not in leave_out}
    return {name: input_hash(v) for name, v in there.items() if not isinstance(v, Frames)}


def clip_hashes(inputs: Inputs) -> dict[str, str]:
    """The hashes of the clips among `reported` inputs; only frames that nobody read are read."""
    clips = {n: v.unread() for n, v in inputs.at_hand().items() if isinstance(v, Frames)}
    return {name: frames_hash(frame.hash() for frame in clip) for name, clip in clips.items()}


def reported(inputs: Inputs) -> Inputs:
    """The inputs with loaders whose errors say that it is not the method that failed."""
    found = inputs.unread()
    for name, thing in found.items():
        if isinstance(thing, Frames):
            found[name] = _hashed(thing)
        elif callable(thing):
            found[name] = partial(_read, thing)
    return type(inputs)(found)


def _hashed(clip: Frames) -> Frames:
    return Frames(map(_Frame, clip.unread()), clip.source)


class _Frame:
    """A frame of a clip that is hashed when it is first read."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._sha256 = ""

    def __call__(self) -> Any:
        values = _read(self._frame) if callable(self._frame) else self._frame
        self._sha256 = self._sha256 or input_hash(values)
        return values

    def hash(self) -> str:
        """SHA-256 of its values."""
        if not self._sha256:
            self()
        return self._sha256


def _read(loader: Callable[[], Any]) -> Any:
    try:
        found = loader()
        return _hashed(found) if isinstance(found, Frames) else found
    except Unavailable as error:
        raise LostSample(str(error)) from error
    except DepthgaugeError as error:
        raise UnreadableInput(str(error)) from error
    except (OSError, MemoryError) as error:
        what = f"{type(error).__name__}: {error}".rstrip(": .")
        raise UnreadableInput(f"an input cannot be read ({what}).") from error


def data_state(run: Run, data: str | Path | None = None) -> DataState:
    """What is known about the data of a finished run.

    Raises:
        DepthgaugeError: The data cannot be read as this dataset.
    """
    root = Path(data or run.info["data"])
    if not root.is_dir():
        return DataState("absent")
    record = read_record(run.path)
    if not set(run.samples) <= set(record.inputs):
        return DataState("not recorded")
    # A folder of estimates may name samples beyond the dataset; only the run's own matter here.
    wanted = set(run.samples)
    # The run's own hashes decide here, not those of the dataset.
    everything = samples_of(run.protocol, root, trust=True)
    samples = [sample for sample in everything if sample.id in wanted]
    rules = Rules.of(run.protocol, everything)
    changed, _ = changed_samples(samples, root, record, run.truth_hashes, rules)
    gone = wanted - {sample.id for sample in samples}
    changed |= dict.fromkeys(sorted(gone & set(record.files)), "everything")
    return DataState("changed", changed) if changed else DataState("same")


def require_same_data(runs: Sequence[Run], data: str | Path | None = None) -> list[str]:
    """Refuses runs whose data has changed; returns what has to be said about the others.

    Raises:
        BadData: The inputs or the truth of a sample changed since it was scored.
    """
    said: list[str] = []
    for run in runs:
        found = data_state(run, data)
        if found.state == "changed":
            raise BadData(
                f"{run.path}: {found.sentence}; put the files back, or score them again with "
                "'run --redo-changed'."
            )
        if found.sentence:
            said.append(f"{run.path}: {found.sentence}")
    return said
