"""The maps behind the scores of a run, read again from its data and its stored estimates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from depthgauge.engine.running.rescore import recorded
from depthgauge.engine.running.run import folders_of
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.engine.scoring.rules import Rules
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.engine.store.estimates import Place, estimate_hash, read_stored
from depthgauge.engine.store.record import Entrant, Run
from depthgauge.engine.store.run_folder import find_data
from depthgauge.engine.store.submitted_estimates import finder_inputs
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.quantities import CONFIDENCE, QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Image, Map, Sample


class RunMaps:
    """Truth, images and estimates of a run's samples, as its protocol compares them.

    Args:
        run: A finished run.
        data: The dataset's folder; by default the one that the run used.

    Raises:
        BadData: The data is no longer there, or has other samples.
    """

    def __init__(self, run: Run, data: Path | None = None) -> None:
        self.run = run
        protocol = run.protocol
        root = find_data(run.info, data)
        methods = [recorded(entrant) for entrant in run.entrants]
        samples = samples_of(protocol, root, folders_of(methods), trust=True)
        self._samples = {sample.id: sample for sample in samples}
        if lacking := [name for name in run.samples if name not in self._samples]:
            raise BadData(f"{root}: has no sample '{lacking[0]}' of the run; name it with --data.")
        self._judge = Judge(Rules.of(protocol, samples))
        self._estimates = Path(run.info.get("estimates") or run.path / "estimates")
        self._read: dict[str, Estimate | ClipEstimate] = {}
        """By label: the estimates of the sample that was requested last."""
        self._read_of = ""

    def sample(self, name: str) -> Sample:
        """A sample of the run with all of its truth, if it is still the one that was scored."""
        return self._known(name)

    def estimate(self, entrant: Entrant, sample: str, seed: int = 0) -> Estimate | ClipEstimate:
        """A method's estimate as it gave it, for samples on which it did not fail."""
        return self._estimate(entrant, sample, seed)

    def images(self, sample: str) -> dict[str, Image]:
        """The pictures that methods were given, by name."""
        inputs = next(self._samples[sample].fresh().frames()).inputs
        return {name: inputs[name] for name in inputs if name.endswith("image")}

    def truth(self, sample: str) -> Map:
        """The truth as it is compared."""
        return self.missing(sample).truth

    def missing(self, sample: str) -> PreparedSample:
        """A sample as it is compared when it has no estimate."""
        return self._judge.prepared(self._known(sample), None)

    def prepared(self, entrant: Entrant, sample: str, seed: int = 0) -> PreparedSample | None:
        """A method's estimate beside the truth; None where the method failed there."""
        if sample in self.run.results[entrant.label, seed].failed:
            return None
        estimate = self._estimate(entrant, sample, seed)
        return self._judge.prepared(self._known(sample), estimate)

    def all_prepared(self, sample: str, part: str = "") -> Mapping[str, PreparedSample]:
        """Every method's estimate of a sample, of its first seed, by label.

        Args:
            sample: Its id.
            part: One of `scored_parts`; empty for the main map.
        """
        known = self._known(sample)
        return {
            label: self._judge.prepared(known, estimate, part)
            for label, estimate in self._all_estimates(sample).items()
        }

    @property
    def scored_parts(self) -> tuple[str, ...]:
        """The parts that the protocol also scores, such as `flow`, `layers:2`."""
        parts = (part for resolution, part in self.run.protocol.views if part and not resolution)
        return tuple(dict.fromkeys(parts))

    def part_truth(self, sample: str, part: str) -> Map:
        """The truth of a part as it is compared."""
        return self._judge.prepared(self._known(sample), None, part).truth

    def unscored_parts(self, sample: str) -> dict[str, dict[str, Map]]:
        """Other maps that estimates of a sample have, such as `confidence`: part -> label -> map.

        They are as the methods gave them, at their own size; parts with layers are left out.
        """
        declared = QUANTITIES[self.run.protocol.quantity]
        scored = {part.partition(":")[0] for part in self.scored_parts}
        found: dict[str, dict[str, Map]] = {}
        for label, estimate in self._all_estimates(sample).items():
            first = estimate
            if isinstance(estimate, ClipEstimate):
                first = next((frame for frame in estimate.frames if frame is not None), estimate)
            given = first.parts if isinstance(first, Estimate) else {}
            for part in (*declared.parts[1:], CONFIDENCE):
                if part.is_map and not part.is_stack and part.name in given:
                    found.setdefault(part.name, {})[label] = given[part.name]
        return {name: maps for name, maps in found.items() if name not in scored}

    def _all_estimates(self, sample: str) -> dict[str, Estimate | ClipEstimate]:
        """The estimates of all methods that have one, of their first seeds."""
        if self._read_of != sample:
            self._read = {
                entrant.label: self._estimate(entrant, sample, entrant.seeds[0])
                for entrant in self.run.entrants
                if sample not in self.run.results[entrant.label, entrant.seeds[0]].failed
            }
            self._read_of = sample
        return self._read

    def _known(self, sample: str) -> Sample:
        """A sample whose truth is still the one that was scored against."""
        found = self._samples[sample]
        if self._judge.hash_of(found) != self.run.truth_hashes.get(sample):
            raise BadData(f"{sample}: its truth has changed since the run; score it again.")
        return found

    def _estimate(self, entrant: Entrant, sample: str, seed: int) -> Estimate | ClipEstimate:
        protocol = self.run.protocol
        try:
            if entrant.method == "folder":
                given = finder_inputs(protocol, self._samples[sample])
                found = recorded(entrant).estimate(given, protocol.quantity)
            else:
                place = Place(self._estimates, entrant.label, seed, sample)
                hashes = (entrant.options_hash, *entrant.older.values())
                found = read_stored(place, protocol.quantity, *hashes).estimate
        except DepthgaugeError as error:
            raise BadData(f"the estimate of {entrant.label} cannot be used: {error}") from error
        known = self.run.estimate_hashes.get((entrant.label, seed), {}).get(sample, "")
        if known and estimate_hash(found) != known:
            raise BadData(f"the estimate of {entrant.label} has changed since; score it again.")
        return found
