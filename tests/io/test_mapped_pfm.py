"""PFM files that are used where they are: the same values, nothing that lies about its size."""

import numpy as np
import pytest

from depthgauge import io
from depthgauge.errors import BadFile, TooLarge

VALUES = np.array([[1.5, np.nan, np.inf], [-2.0, 0.0, -np.inf]], np.float32)


def put(path, header, order="<f4", values=VALUES):
    path.write_bytes(header + np.ascontiguousarray(values[::-1], order).tobytes())
    return path


@pytest.mark.parametrize(
    ("header", "order"),
    [
        (b"Pf\n3 2\n-1.00\n", "<f4"),  # 14 bytes: values are not aligned
        (b"Pf\n3 2\n-1.0000\n", "<f4"),  # 16 bytes: they are
        (b"Pf\n3 2\n1\n", ">f4"),
        (b"Pf\n# by hand\n3 2\n-0.5\n", "<f4"),
    ],
)
def test_values_are_those_of_the_file_from_the_bottom_up(tmp_path, header, order):
    path = put(tmp_path / "a.pfm", header, order)
    found = io.map_pfm(path)
    np.testing.assert_array_equal(found[::-1], VALUES)
    np.testing.assert_array_equal(found[::-1], io.read_map(path, raw=True, scale=1))
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    assert found.flags.aligned
    assert not found.flags.writeable


def test_the_scale_is_the_headers_own(tmp_path):
    assert io.pfm_scale(put(tmp_path / "a.pfm", b"Pf\n3 2\n-0.5\n")) == 0.5
    # read_map takes this one for a hint to viewers; a twin may have to multiply by it.
    assert io.pfm_scale(put(tmp_path / "a.pfm", b"Pf\n3 2\n-0.003922\n")) == 0.003922
    np.save(tmp_path / "a.npy", VALUES)
    assert io.pfm_scale(tmp_path / "a.npy") is None


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"Pf\n3 2\n-1\n" + bytes(23), BadFile),
        (b"Pf\n3 2\n-1\n" + bytes(25), BadFile),
        (b"PF\n1 2\n-1\n" + bytes(24), BadFile),
        (b"Pf\n99999 99999\n-1\n", TooLarge),
        (b"Pf\n3 2\n0\n" + bytes(24), BadFile),
        (b"P5\n3 2\n255\n" + bytes(6), BadFile),
        (b"", BadFile),
    ],
)
def test_damaged_files_are_refused(tmp_path, body, error):
    (tmp_path / "a.pfm").write_bytes(body)
    with pytest.raises(error, match=r"a\.pfm"):
        io.map_pfm(tmp_path / "a.pfm")
