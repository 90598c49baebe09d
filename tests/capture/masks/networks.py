"""Networks with the inputs and outputs of segment-anything's, small enough to write by hand.

The encoder averages 16 x 16 pixels; the mask is where that is brighter than the mean of the
training pictures.
"""

from tests.metrics.views.tiny_onnx import _field, _tensor

SIDE = 1024
DECODER = [
    ("image_embeddings", (1, 3, 64, 64)),
    ("point_coords", None),
    ("point_labels", None),
    ("mask_input", (1, 1, 256, 256)),
    ("has_mask_input", (1,)),
    ("orig_im_size", (2,)),
]


def _node(operation, used, made, **attributes):
    node = b"".join(_field(1, name) for name in used) + _field(2, made) + _field(4, operation)
    for name, values in attributes.items():
        ints = b"".join(_field(8, value) for value in values)
        node += _field(5, _field(1, name) + ints + _field(20, 7))
    return _field(1, node)


def _free(name, axes):
    """A tensor whose axes have names in place of sizes."""
    dims = b"".join(_field(1, _field(1, n) if isinstance(n, int) else _field(2, n)) for n in axes)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, dims)))


def _network(nodes, inputs, outputs):
    graph = b"".join(nodes) + _field(2, "g")
    graph += b"".join(_field(11, each) for each in inputs)
    graph += b"".join(_field(12, each) for each in outputs)
    return _field(1, 6) + _field(8, _field(1, "") + _field(2, 11)) + _field(7, graph)


def encoder(rows_first=False):
    """(1, 3, S, S), or (H, W, 3) with `rows_first`."""
    pool = {"kernel_shape": (16, 16), "strides": (16, 16)}
    out = [_tensor("image_embeddings", (1, 3, 64, 64))]
    if not rows_first:
        nodes = [_node("AveragePool", ["x"], "image_embeddings", **pool)]
        return _network(nodes, [_tensor("x", (1, 3, SIDE, SIDE))], out)
    nodes = [
        _node("Transpose", ["input_image"], "turned", perm=(2, 0, 1)),
        _node("Unsqueeze", ["turned"], "batch", axes=(0,)),
        _node("AveragePool", ["batch"], "image_embeddings", **pool),
    ]
    return _network(nodes, [_tensor("input_image", (SIDE, SIDE, 3))], out)


def decoder(without=""):
    """`without`: leaves an input out, as in a file that is something else."""
    free = {
        "point_coords": _free("point_coords", (1, "points", 2)),
        "point_labels": _free("point_labels", (1, "points")),
    }
    inputs = [free.get(name) or _tensor(name, shape) for name, shape in DECODER if name != without]
    nodes = [
        _node("ReduceMean", ["image_embeddings"], "masks", axes=(1,)),
        _node("ReduceMean", ["point_labels"], "iou_predictions", axes=(1,)),
    ]
    outputs = [_tensor("masks", (1, 1, 64, 64)), _tensor("iou_predictions", (1, 1))]
    return _network(nodes, inputs, outputs)
