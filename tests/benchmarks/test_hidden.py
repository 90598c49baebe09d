"""`[hidden]`: what a site releases; it moves no number."""

import pytest
from tests.serve.tiny import TOML

from depthgauge.benchmarks import load_protocol
from depthgauge.errors import BadProtocol


@pytest.fixture
def load(tmp_path):
    def load_it(text):
        (tmp_path / "tiny.toml").write_text(text)
        return load_protocol(tmp_path / "tiny.toml")

    return load_it


def test_it_is_no_part_of_the_hash(load):
    plain = TOML.replace(
        'scores = ["mae@all", "badpix:1@all"]\nleast_density = 0.9\ndigits = 3\n', ""
    )
    assert load(TOML).hash == load(plain).hash
    assert load(plain).released_scores == ("mae@all",)
    assert load(TOML).released_scores == ("mae@all", "badpix:1@all")


def test_mistakes_are_named(load):
    with pytest.raises(BadProtocol, match=r"hidden\.scores\[1\].*badpix:7@all"):
        load(TOML.replace("badpix:1@all", "badpix:7@all"))
    with pytest.raises(BadProtocol, match="least_density"):
        load(TOML.replace("0.9", "1.5"))
    with pytest.raises(BadProtocol, match="pictures"):
        load(TOML.replace("least_density", "pictures"))
