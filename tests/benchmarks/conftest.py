"""A small protocol to change, and what is wrong with a changed one."""

import pytest

from depthgauge.benchmarks import make_protocol
from depthgauge.errors import BadProtocol

PLAIN = {
    "id": "trial",
    "version": 1,
    "dataset": "folder",
    "quantity": "disparity",
    "pool": "image",
    "scores": [{"metric": "badpix", "threshold": [1, 2], "region": ["all", "visible"]}],
}


@pytest.fixture
def make():
    """The plain protocol with changes; a key that is None is left out."""

    def made(**changes):
        body = {**PLAIN, **changes}
        return make_protocol({k: v for k, v in body.items() if v is not None}, "trial.toml")

    return made


@pytest.fixture
def problems(make):
    def found(**changes):
        with pytest.raises(BadProtocol) as caught:
            make(**changes)
        listed = caught.value.problems
        assert len({p.where for p in listed}) == len(listed)
        return {p.where: p for p in listed}

    return found


@pytest.fixture
def twin():
    """Changes that make it a twin."""
    return {
        "twin": "middlebury",
        "dataset": "middlebury-2014",
        "split": "training",
        "missing": "good",
        "scores": None,
    }
