"""What the evidence of layers measures on small samples with known answers, and its page."""

from __future__ import annotations

import numpy as np
from tools.evidence import _layers_page, layers

from depthgauge.types import Inputs, Sample, Truth

SIZE = (60, 80)


def sample():
    """A picture that moves by (3, 1); below its upper half the same flow is behind glass."""
    noise = np.random.default_rng(0).integers(0, 255, (SIZE[0] + 8, SIZE[1] + 8, 1))
    wide = np.repeat(noise, 3, axis=2).astype(np.uint8)
    first, second = (wide[y : y + SIZE[0], x : x + SIZE[1]] for y, x in ((4, 4), (3, 1)))
    flow = np.full((2, *SIZE, 2), np.nan, np.float32)
    material = np.full((2, *SIZE), 255, np.uint8)
    flow[0], material[0] = (3, 1), 0
    half = slice(30, None)
    flow[0, half], material[0, half] = (-2, 0), 1
    flow[1, half], material[1, half] = (3, 1), 0
    truth = Truth({"layered_flow": flow, "layer_material": material})
    return Sample("a", Inputs({"first_image": first, "second_image": second}), truth)


def test_a_point_looks_the_same_where_the_truth_is_right():
    found = {number.name.split(", ")[1]: number.value for number in layers._seen_again([sample()])}
    names = {name.partition(":")[0]: value for name, value in found.items()}
    assert names["free"] < 1
    assert names["through glass"] < 1
    assert names["not moved"] > 30


def test_one_flow_stands_for_the_second_layer(monkeypatch):
    right = np.full((*SIZE, 2), (3, 1), np.float32)

    class Known:
        @staticmethod
        def estimate(inputs, quantity):
            class Estimate:
                values = right if quantity == "flow" else np.stack([right, np.nan * right])

            return Estimate

    monkeypatch.setattr(layers, "find_method", lambda name: Known)
    assert layers._second_layer([sample()], "dis") == {1: 0.0, 3: 0.0, 5: 0.0}
    assert layers._second_layer([sample()], "peel") == {1: 100.0, 3: 100.0, 5: 100.0}


def test_pages_have_every_number():
    class Numbers(dict):
        def get(self, name, default=None):
            return self[name]

        def __missing__(self, name):
            assert ", " in name or "core" in name
            return 12.5

    parts = _layers_page.parts(Numbers())
    for name in ("first", "last", "layers", "materials", "second", "strata", "what is in front"):
        lines = parts[name].splitlines()
        assert len({line.count("|") for line in lines}) == 1
        assert all("12.5" in line for line in lines[2:])
    assert "1152 pictures an hour" in parts["time"]
    assert parts["time"].endswith("0.2 hours on 256 cores.")


def test_throughput_is_in_processor_time(tmp_path):
    (tmp_path / "set.json").write_text('{"pairs": 4, "core_s": 360.0}')
    found = {n.name: n.value for n in layers._throughput(tmp_path / "set")}
    assert found["core seconds a pair of four pictures"] == 90.0
    assert found["pictures an hour and core"] == 160.0
    assert found["core hours of 60,000 pictures"] == 375.0
