"""ONNX files of a single node, written byte by byte, for tests of what networks are given."""

from __future__ import annotations


def _number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(tag, value):
    if isinstance(value, int):
        return _number(tag << 3) + _number(value)
    body = value.encode() if isinstance(value, str) else value
    return _number(tag << 3 | 2) + _number(len(body)) + body


def _tensor(name, shape):
    dims = b"".join(_field(1, _field(1, n)) for n in shape)
    kind = _field(1, _field(1, 1) + _field(2, dims))
    return _field(1, name) + _field(2, kind)


def one_node(operation, inputs, output, axes=(), uses=None):
    """A network of one operation; inputs and output are (name, shape)."""
    used = [name for name, _ in inputs] if uses is None else uses
    node = b"".join(_field(1, name) for name in used) + _field(2, output[0])
    node += _field(4, operation)
    if axes:
        ints = b"".join(_field(8, axis) for axis in axes)
        node += _field(5, _field(1, "axes") + ints + _field(20, 7))
    graph = _field(1, node) + _field(2, "g")
    graph += b"".join(_field(11, _tensor(*each)) for each in inputs)
    graph += _field(12, _tensor(*output))
    return _field(1, 6) + _field(8, _field(1, "") + _field(2, 11)) + _field(7, graph)
