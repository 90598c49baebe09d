"""Scores estimates sample by sample; what no estimate changes is prepared once per sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from depthgauge._canonical import hash_json
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS, read_estimate, things_hash, truth_hash
from depthgauge.engine.scoring.clips import (
    PREVIOUS,
    FrameMemory,
    frame_pairs,
    merge_curves,
    merge_scores,
)
from depthgauge.engine.scoring.comparison import Circumstances
from depthgauge.engine.scoring.layered import dense_layers, layer_items
from depthgauge.engine.scoring.measure import PreparedSample, measure
from depthgauge.engine.scoring.mixups import Fingerprint, fingerprint
from depthgauge.engine.scoring.prepare import PreparedTruth, prepare, prepare_truth
from depthgauge.engine.scoring.readings import notes_of
from depthgauge.engine.scoring.remarks import curve_of, scales_of, scores_left_out
from depthgauge.engine.scoring.resolutions import (
    FinerItems,
    InputsWithoutImages,
    ItemsAtSize,
    picture_at,
    size_factor,
)
from depthgauge.engine.scoring.rules import Outcome, Rules
from depthgauge.engine.scoring.shared_loaders import is_same
from depthgauge.engine.scoring.truth_maps import has_map, truth_map
from depthgauge.engine.store.record import Curve
from depthgauge.errors import BadData, BadEstimate, DepthgaugeError, Unavailable, WrongShape
from depthgauge.quantities import QUANTITIES
from depthgauge.types import (
    ClipEstimate,
    Estimate,
    Inputs,
    Map,
    Note,
    Sample,
    Score,
    Truth,
    overlaid,
)

View = tuple[str, str]
"""What is compared: a resolution of the truth and a part of the quantity; both may be empty."""
_MAIN: View = ("", "")


class Judge:
    """Scores estimates of samples; the truth of the last sample is kept, and reused for samples
    that share it, such as other illuminations of a scene.

    Args:
        rules: What is measured and how.
        with_hashes: Whether outcomes have a hash of what they were compared with. Hashing a large
            truth takes as long as scoring it, and only runs keep it.
        with_notes: Whether to test if estimates are read as what they are.
        memory: Given if the samples are the frames of a clip, in order.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        with_hashes: bool = True,
        with_notes: bool = True,
        memory: FrameMemory | None = None,
    ) -> None:
        self.rules = rules
        self._memory = memory
        self.with_hashes = with_hashes
        self.with_notes = with_notes
        self.prints: dict[str, Fingerprint] | None = None
        """Data of samples without a note, if a caller put a dict here to find mix-ups."""
        self.protocol = rules.protocol
        self._last: Sample | None = None
        self._used: frozenset[str] = frozenset()
        self._ready: dict[View, PreparedTruth] = {}
        self._lacking: dict[View, str] = {}
        self._hash = ""

    def has_truth(self, sample: Sample) -> bool:
        """Whether the sample has a truth to compare with."""
        return has_map(sample, self.protocol)

    def score_map(
        self, sample: Sample, find: Callable[[], Map | Estimate | ClipEstimate]
    ) -> Outcome:
        """Scores what `find` returns; if it raises, the sample has failed."""
        if not self.has_truth(sample):
            return Outcome(left_out=(sample.id,), skipped=True)
        if sample.length is not None:
            return self._score_clip(sample, find)
        try:
            self._open(sample)
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        try:
            found = find()
            if isinstance(found, ClipEstimate):
                raise BadEstimate("it has several frames, but the sample is not a clip.")
            return self._score(sample, found)
        except DepthgaugeError as error:
            return self.score_none(sample, str(error))

    def score_file(self, sample: Sample, find: Callable[[], Path]) -> Outcome:
        """The same for an estimate in a file; a twin reads it in its own way."""
        if self.protocol.twin is None:
            dataset, quantity = DATASETS[self.protocol.dataset], self.protocol.quantity
            said = self.protocol.reading.estimate.reading
            return self.score_map(sample, lambda: read_estimate(find(), dataset, quantity, said))
        if not self.has_truth(sample):
            return Outcome(left_out=(sample.id,), skipped=True)
        twin = TWINS[self.protocol.twin]
        known = self._twin_hash(sample)
        sample = sample.fresh()  # what is read from it is released with it
        try:
            found = twin.evaluate(sample, find(), twin.options(self.protocol.options))
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        except DepthgaugeError as error:
            return Outcome(failed=str(error), truth_hash=known)
        left_out = tuple(f"{sample.id}@{region}" for region in found.left_out)
        return Outcome(dict(found.scores), left_out=left_out, truth_hash=known)

    def score_none(self, sample: Sample, why: str) -> Outcome:
        """Scores a sample without an estimate; a twin has no scores for it."""
        if not self.has_truth(sample):
            return Outcome(failed=why, left_out=(sample.id,), skipped=True)
        if self.protocol.twin is not None:
            return Outcome(failed=why, truth_hash=self._twin_hash(sample))
        try:
            found = self._score_frames(sample, None) if sample.length else self._score(sample, None)
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        return Outcome(
            found.scores, why, found.left_out, curve=found.curve, truth_hash=found.truth_hash
        )

    def _score_clip(
        self, sample: Sample, find: Callable[[], Map | Estimate | ClipEstimate]
    ) -> Outcome:
        try:
            found = find()
            if not isinstance(found, ClipEstimate):
                raise BadEstimate("it is one map, but the sample is a clip.")
            return self._score_frames(sample, found)
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        except DepthgaugeError as error:
            return self.score_none(sample, str(error))

    def _score_frames(self, sample: Sample, estimate: ClipEstimate | None) -> Outcome:
        """Scores the frames as they come; a clip is never in memory."""
        judge = Judge(
            self.rules,
            with_hashes=self.with_hashes,
            with_notes=self.with_notes,
            memory=FrameMemory(),
        )
        declared = None if estimate is None else estimate.declared
        frames = [
            judge._score(*pair)
            if declared is None or index < declared
            else Outcome(truth_hash=judge.hash_of(pair[0]))  # not scored, but the same truth
            for index, pair in enumerate(frame_pairs(sample, estimate))
        ]
        scores = merge_scores(self.protocol, self.protocol.specs, (f.scores for f in frames))
        left_out = dict.fromkeys(text for frame in frames for text in frame.left_out)
        return Outcome(
            scores,
            left_out=tuple(left_out),
            curve=merge_curves(frame.curve for frame in frames),
            truth_hash=hash_json([f.truth_hash for f in frames]) if self.with_hashes else "",
            notes=tuple({note.code: note for frame in frames for note in frame.notes}.values()),
        )

    def _twin_hash(self, sample: Sample) -> str:
        """The hash of a twin's truth, made once while samples come one after the other."""
        if not self.with_hashes:
            return ""
        if self._last is None or not is_same(self._last.truth, sample.truth):
            self._last, self._hash = sample, str(truth_hash(sample.fresh()))
        return self._hash

    def hash_of(self, sample: Sample) -> str:
        """SHA-256 of all that scoring this sample reads."""
        if sample.length is not None:
            judge = Judge(self.rules)
            return hash_json([judge.hash_of(frame) for frame in sample.frames()])
        self._open(sample)
        return self._hash

    def prepared(
        self, sample: Sample, estimate: Map | Estimate | ClipEstimate | None, part: str = ""
    ) -> PreparedSample:
        """Estimate and truth at the plain truth's size as they are compared; of a clip, frame 0.

        Args:
            sample: With its truth.
            estimate: None: as it is compared without one.
            part: One of those that the protocol scores; empty for the main map.
        """
        if isinstance(estimate, ClipEstimate):
            estimate = next(iter(estimate.frames), None)
        views = self._open(next(sample.frames()))
        estimate = _dense(self.protocol, estimate, views[_MAIN])
        return prepare(self.protocol, estimate, views["", part])

    def _score(self, sample: Sample, estimate: Map | Estimate | None) -> Outcome:
        protocol = self.protocol
        scores: dict[str, Score] = {}
        left_out: list[str] = []
        curve: Curve | None = None
        notes: tuple[Note, ...] = ()
        views = self._open(sample)
        estimate = _dense(protocol, estimate, views[_MAIN])
        for view, ready in views.items():
            specs = protocol.specs_at(*view)
            prepared = prepare(protocol, estimate, ready)
            quantity = protocol.quantity_of(ready.part)
            pool: str = protocol.pool
            if self._memory is not None:  # frames are merged, so order statistics keep all values
                prepared, pool = self._with_memory(prepared, view), "pixel"
            scores |= measure(prepared, specs, quantity, protocol.missing, pool)
            absent = () if self._memory is None else PREVIOUS
            left_out += scores_left_out(sample, protocol, specs, prepared, ready, absent)
            if view == _MAIN and estimate is not None and self.with_notes:
                notes = self._notes(sample, prepared, estimate)
            if view == _MAIN and QUANTITIES[quantity].has_pixel_errors:
                curve = curve_of(prepared)
        ordered = {s.id: scores[s.id] for s in protocol.specs if s.id in scores}
        left_out = [*self._warnings(sample), *left_out]
        return Outcome(
            ordered,
            left_out=tuple(left_out),
            curve=curve,
            truth_hash=self._hash,
            notes=notes,
        )

    def _notes(
        self, sample: Sample, prepared: PreparedSample, estimate: Map | Estimate
    ) -> tuple[Note, ...]:
        """What speaks against the way in which the maps of this sample were read."""
        protocol = self.protocol
        if protocol.estimate.inverse:
            return ()  # the tests of readings are about depths
        found = notes_of(protocol, prepared, scales=scales_of(protocol, estimate))
        if self.prints is not None and not found and prepared.given is not None:
            about = Circumstances(align=protocol.align.kind, space=protocol.align.space)
            kept = fingerprint(prepared.given, prepared.truth, protocol.quantity, about)
            self.prints |= {} if kept is None else {sample.id: kept}
        return tuple(replace(note, sample=sample.id) for note in found)

    def _with_memory(self, prepared: PreparedSample, view: View) -> PreparedSample:
        """A frame with what metrics may need from the previous frame."""
        memory = self._memory
        if memory is None or view != _MAIN:
            return prepared
        found = replace(prepared, items=overlaid(memory.items, prepared.items))
        memory.remember(prepared)
        return found

    def _warnings(self, sample: Sample) -> Iterable[str]:
        """How this sample differs from the others."""
        ranged = QUANTITIES[self.protocol.quantity].range_input
        if self.rules.ranged and ranged not in sample.inputs:
            # Other samples have one, so this one is scored by a milder rule; users must know.
            yield f"{sample.id}: {ranged}"
        yield from (f"{sample.id}: {why}" for why in self._lacking.values())

    def _open(self, sample: Sample) -> Mapping[View, PreparedTruth]:
        """The truth's side of each view of a sample, and a hash of all that it was made from."""
        if self._ready and self._is_last(sample):
            return self._ready
        self._ready, self._lacking = {}, {}
        if sample.truth is None:
            raise BadData(f"{sample.id}: has no truth.")
        # What is read from a sample is released with it; else all maps would stay in memory.
        truth, inputs = sample.truth.fresh(), sample.inputs.fresh()
        try:
            ready = self._prepare_all(truth, inputs)
        except WrongShape as error:
            raise WrongShape(f"{sample.id}: {error}") from error
        used = {f"inputs/{name}": thing for name, thing in inputs.at_hand().items()}
        used |= {f"truth/{name}": thing for name, thing in truth.at_hand().items()}
        self._hash = things_hash(used) if self.with_hashes else ""
        self._last, self._used, self._ready = sample, frozenset(inputs.at_hand()), ready
        return ready

    def _is_last(self, sample: Sample) -> bool:
        """Whether the preparation of the last sample is also valid for this one."""
        last = self._last
        if last is None or last.id == sample.id:
            return last is not None
        same_names = sample.inputs.keys() == last.inputs.keys()
        return (
            same_names
            and is_same(sample.inputs, last.inputs, self._used)
            and is_same(sample.truth, last.truth)
        )

    def _prepare_all(self, truth: Truth, inputs: Inputs) -> dict[View, PreparedTruth]:
        ready = {_MAIN: self._prepare(truth, inputs, "")}
        for view in self.protocol.views[1:]:
            resolution, part = view
            try:
                if resolution:
                    ready[view] = self._prepare_finer(truth, inputs, resolution)
                else:
                    ready[view] = self._prepare(truth, inputs, part)
            except Unavailable as problem:
                self._lacking[view] = str(problem)
        return ready

    def _prepare(self, truth: Truth, inputs: Inputs, part: str) -> PreparedTruth:
        items = overlaid(
            layer_items(self.protocol, truth, part),
            truth,
            inputs,
        )
        plain = truth_map(self.protocol, truth, items, part)
        if (size := self.protocol.truth_size) is not None:
            how = self.protocol.estimate_resize
            plain, items = picture_at(plain, size[::-1], how), ItemsAtSize(items, size, how)
        ready = prepare_truth(self.protocol, plain, items, declared=self.rules.declared, part=part)
        self._read_needs(ready, "")
        return ready

    def _prepare_finer(self, truth: Truth, inputs: Inputs, resolution: str) -> PreparedTruth:
        name = QUANTITIES[self.protocol.quantity].main.name
        finer = FinerItems(truth, resolution)
        if name not in finer:
            raise Unavailable(f"there is no {resolution}_{name}")
        factor = size_factor(truth[name], finer[name], resolution)
        kept = self.protocol.resize_values == "kept"
        prefix = f"{resolution}_"
        declared = {n.removeprefix(prefix) for n in self.rules.declared if n.startswith(prefix)}
        ready = prepare_truth(
            self.protocol,
            finer[name],
            overlaid(finer, InputsWithoutImages(inputs, factor, kept=kept)),
            declared=declared,
            resolution=resolution,
            factor=factor,
        )
        self._read_needs(ready, resolution)
        return ready

    def _read_needs(self, ready: PreparedTruth, resolution: str) -> None:
        """Reads what metrics need, so that it is part of the hash."""
        specs = self.protocol.specs_at(resolution, ready.part)
        for name in {name for spec in specs for name in spec.metric.needs}:
            if name in ready.items:
                ready.items[name]


def _dense(
    protocol: Protocol, estimate: Map | Estimate | None, ready: PreparedTruth
) -> Map | Estimate | None:
    """An estimate with layers as the array of all of them; any other as it is."""
    part = QUANTITIES[protocol.quantity].main
    if estimate is None or not part.is_stack:
        return estimate
    if not isinstance(estimate, Estimate):
        estimate = Estimate(estimate, protocol.quantity)
    return dense_layers(protocol, estimate, ready.truth.shape, len(ready.items[part.name]))
