"""Which axis of a batch is which; two readings are refused and named."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.engine.scoring.in_memory.batches import Axes, batch_axes, guessed_batch, mask_axes
from depthgauge.errors import WrongShape


@pytest.mark.parametrize(
    ("shape", "quantity", "axes"),
    [
        ((4, 5), "disparity", Axes(None, None)),
        ((8, 4, 5), "disparity", Axes(0, None)),
        ((2, 4, 5), "disparity", Axes(0, None)),
        ((1, 4, 5), "depth", Axes(0, None)),
        ((8, 1, 4, 5), "depth", Axes(0, 1)),
        ((8, 4, 5, 1), "depth", Axes(0, 3)),
        ((8, 2, 4, 5), "flow", Axes(0, 1)),
        ((8, 4, 5, 2), "flow", Axes(0, 3)),
        ((2, 4, 5), "flow", Axes(None, 0)),
        ((4, 5, 2), "flow", Axes(None, 2)),
        ((8, 3, 4, 5), "normals", Axes(0, 1)),
        ((8, 4, 5, 6), "boundaries", Axes(0, 3)),
        ((8, 4, 5), "boundaries", Axes(0, None)),
        ((4, 5), None, Axes(None, None)),
        ((8, 4, 5), None, Axes(0, None)),
        ((8, 1, 4, 5), None, Axes(0, 1)),
        ((8, 2, 4, 5), None, Axes(0, 1)),
        ((8, 4, 5, 3), None, Axes(0, 3)),
    ],
)
def test_shapes_of_frameworks(shape, quantity, axes):
    assert batch_axes(shape, quantity, "the estimate") == axes
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    arranged = axes.arrange(values)
    channels = 1 if axes.channels is None else shape[axes.channels]
    assert arranged.ndim == (3 if channels == 1 else 4)
    assert arranged.size == values.size


@pytest.mark.parametrize(
    ("shape", "quantity", "sentence"),
    [
        (
            (2, 4, 5),
            None,
            r"either flow \(C, H, W\) or a batch of 2 maps \(B, H, W\); say quantity",
        ),
        ((4, 5, 3), None, r"either normals \(H, W, C\) or a batch of 4 maps"),
        ((8, 2, 4, 2), "flow", r"either flow \(B, C, H, W\) or flow \(B, H, W, C\)"),
        ((2, 4, 2), "flow", r"either flow \(C, H, W\) or flow \(H, W, C\)"),
        ((8, 1, 4, 1), "depth", r"either a batch \(B, 1, H, W\) or a batch \(B, H, W, 1\)"),
        ((4, 5, 1), "depth", r"either one map \(H, W, 1\) or a batch of 4"),
        ((8, 3, 4, 5), "depth", r"has shape \(8, 3, 4, 5\); a batch of depth is \(B, H, W\)"),
        ((8, 4, 5), "flow", r"a batch of flow is \(B, 2, H, W\) or \(B, H, W, 2\)"),
        ((8, 0, 5), "depth", "a batch of depth is"),
        ((5,), None, r"has shape \(5,\); a batch is"),
        ((1, 8, 1, 4, 5), "depth", "a batch of depth is"),
    ],
)
def test_odd_shapes_are_one_sentence(shape, quantity, sentence):
    with pytest.raises(WrongShape, match=sentence):
        batch_axes(shape, quantity, "the estimate")


def test_a_mask_has_no_channels():
    assert mask_axes((4, 5), "the mask 'a'") == Axes(None, None)
    assert mask_axes((8, 1, 4, 5), "the mask 'a'") == Axes(0, 1)
    with pytest.raises(WrongShape, match="the mask 'a' has shape"):
        mask_axes((8, 3, 4, 5), "the mask 'a'")


def test_the_quantity_is_guessed_from_the_channels():
    assert guessed_batch((8, 4, 5), "the truth") == "disparity"
    assert guessed_batch((8, 1, 4, 5), "the truth") == "disparity"
    assert guessed_batch((8, 2, 4, 5), "the truth") == "flow"
    assert guessed_batch((8, 4, 5, 3), "the truth") == "normals"


def test_a_batch_is_checked_against_its_truth():
    maps = np.ones((4, 5, 6))
    with pytest.raises(WrongShape, match="the estimate has 3 maps but the truth has 4"):
        dg.Accumulator("mae").update(maps[:3], maps)
    with pytest.raises(WrongShape, match="size"):
        dg.Accumulator("mae").update(maps[:, :4], maps)


def test_lists_of_maps_and_arrays_of_other_libraries():
    class Foreign:
        """An array that only speaks DLPack."""

        def __init__(self, values):
            self.values, self.shape = values, values.shape

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    maps = np.random.default_rng(0).random((4, 5, 6)).astype(np.float32)
    plain, listed, foreign = (dg.Accumulator("mae", quantity="disparity") for _ in range(3))
    plain.update(maps, maps + 1)
    listed.update(list(maps), (maps + 1).tolist())
    foreign.update(Foreign(maps), Foreign(maps + 1))
    expected = plain.compute().to_json()
    assert listed.compute().to_json() == expected
    assert foreign.compute().to_json() == expected
