"""Small runs made by hand: from values, or from errors that go through the engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from depthgauge.benchmarks.protocol import NO_DATASET, make_protocol
from depthgauge.engine.scoring.measure import PreparedSample, measure
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.record import THRESHOLDS, Curve, Entrant, Run
from depthgauge.types import Score


class Build:
    """What tests make runs with."""

    @staticmethod
    def protocol(**changes):
        body = {
            "id": "trial",
            "version": 1,
            "dataset": NO_DATASET,
            "quantity": "disparity",
            "pool": "image",
            "scores": [{"metric": "badpix", "threshold": [1, 3]}, {"metric": "mae"}],
        }
        return make_protocol({**body, **changes}, "trial")

    @classmethod
    def from_values(cls, table, scenes=None, **changes):
        """A run of one score from label -> sample -> value; 10 pixels each, NaN: all missing."""
        changes.setdefault("scores", [{"metric": "mae"}])
        protocol = cls.protocol(**changes)
        (spec,) = protocol.specs
        unit = spec.metric.unit.of("disparity")
        found = {
            key: {
                name: {spec.id: Score(float(v), *((0, 10) if np.isnan(v) else (10, 0)), unit=unit)}
                for name, v in values.items()
            }
            for key, values in cls.keyed(table).items()
        }
        return cls.assemble(protocol, found, scenes or {})

    @classmethod
    def from_errors(cls, table, scenes=None, **changes):
        """A run from label -> sample -> errors of its pixels, NaN where there is no estimate."""
        protocol = cls.protocol(**changes)
        found, curves = {}, {}
        for key, samples in cls.keyed(table).items():
            maps = {n: np.asarray(e, np.float32).reshape(1, -1) for n, e in samples.items()}
            found[key] = {n: cls.scores(protocol, e) for n, e in maps.items()}
            curves[key] = {n: cls.curve(e) for n, e in maps.items()}
        return cls.assemble(protocol, found, scenes or {}, curves)

    @staticmethod
    def scores(protocol, errors):
        masks = {"all": np.ones(errors.shape, bool)}
        prepared = PreparedSample(errors, np.zeros_like(errors), masks)
        return measure(prepared, protocol.specs, "disparity", protocol.missing, protocol.pool)

    @staticmethod
    def curve(errors):
        known = np.isfinite(errors)
        size = np.abs(errors[known])
        within = np.array([(size <= np.float32(t)).sum() for t in THRESHOLDS])
        return Curve(within, int(known.sum()), int((~known).sum()))

    @staticmethod
    def keyed(table):
        return {k if isinstance(k, tuple) else (k, 0): v for k, v in table.items()}

    @staticmethod
    def assemble(protocol, found, scenes, curves=None, path="runs/trial"):
        samples = tuple(dict.fromkeys(n for each in found.values() for n in each))
        results = {}
        for key, scores in found.items():
            summary = {}
            for spec in protocol.specs:
                here = {n: s[spec.id] for n, s in scores.items() if spec.id in s}
                if here:
                    summary[spec.id] = pool_spec(
                        spec, here, scenes, protocol.pool, protocol.missing
                    )
            results[key] = Result(protocol, scores, summary)
        seeds = {}
        for label, seed in found:
            seeds.setdefault(label, []).append(seed)
        entrants = tuple(
            Entrant(label, label, label.title(), {"window": 5}, "hash", tuple(each))
            for label, each in seeds.items()
        )
        truth = {n: f"truth of {n}" for n in samples}
        return Run(Path(path), protocol, entrants, results, samples, scenes, truth, curves or {})


@pytest.fixture(scope="session")
def build():
    return Build
