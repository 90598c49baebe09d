"""Metrics that measure by themselves: what they are given, and what happens when they cannot."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.errors import BadScoreId
from depthgauge.metrics import METRICS
from depthgauge.metrics._metric import metric
from depthgauge.types import State
from depthgauge.units import Unit


@pytest.fixture(scope="module")
def largest():
    """A metric of its own: the largest error; needs the disparity range for no good reason."""
    list(METRICS)

    @metric(
        "largest",
        unit=Unit.QUANTITY,
        better="lower",
        bounds=(0, np.inf),
        of=("disparity",),
        cite="none",
        formula="max |e|",
        revision=1,
        needs=("disparity_range",),
    )
    class Largest:
        """The largest error."""

        def measure(estimate, truth, region, *, disparity_range):
            e = np.abs(estimate - truth)[region]
            missing = int(np.isnan(e).sum())
            e = e[np.isfinite(e)]
            return State(e.size, missing, values=np.sort(e))

        def finish(state, *, missing):
            return state.values[-1] if state.values.size else np.nan

    yield
    del METRICS._things["largest"]


def test_it_sees_only_estimates_within_the_range_and_pixels_with_truth(largest, folders, trial):
    (folders.data / "depthgauge.toml").write_text(
        'truth = "truth/{id}.pfm"\ndisparity_range = [0, 20]\n'
    )
    made = trial(scores=[{"metric": "largest"}, {"metric": "density"}])
    sample = folders.evaluate(made).samples["a"]
    inside = np.where(folders.estimate["a"] <= 20, folders.estimate["a"], np.nan)
    e = np.abs(inside - folders.truth["a"])
    assert sample["largest@all"].value == pytest.approx(np.nanmax(e))
    assert sample["largest@all"].missing == sample["density@all"].missing
    assert isinstance(sample["largest@all"].value, float)


def test_where_its_needs_lack_it_is_left_out_and_named(largest, folders, trial):
    result = folders.evaluate(trial(scores=[{"metric": "largest"}, {"metric": "mae"}]))
    assert result.left_out == ("a: largest@all", "b: largest@all", "c: largest@all")
    assert "largest@all" not in result.samples["a"]
    assert "largest@all" not in result.summary
    with pytest.raises(
        BadScoreId, match="largest cannot be computed from two maps: it needs disparity_range"
    ):
        dg.score([[1.0]], [[1.0]], "largest")
