"""OpenCV's FileStorage files (XML and YAML), which calibrations are kept in.

Parsed by ourselves: `cv2.FileStorage` may abort the process on a hostile file.
"""

from __future__ import annotations

from typing import Any

from depthgauge.errors import BadFile
from depthgauge.io import _opencv_xml, _opencv_yaml
from depthgauge.io._files import AnyPath, opened, read_whole, write_parts
from depthgauge.io._opencv_values import MOST_BYTES, Value


def read_opencv_calibration(path: AnyPath) -> dict[str, Value]:
    """All top-level values: numbers, strings, lists, dicts, and matrices as arrays.

    A matrix of type `2f` is (rows, cols, 2). XML with a DOCTYPE is refused, so entities cannot
    explode; base64 data are not read.
    """
    with opened(path) as file:
        data = read_whole(path, file, MOST_BYTES)
    start = data[:100].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return _opencv_xml.parse(path, data)
    if start.startswith(b"%YAML"):
        return _opencv_yaml.parse(path, data)
    raise BadFile(
        f"{path}: an OpenCV storage file starts with <?xml or %YAML, this one with {start[:12]!r}"
    )


def write_opencv_calibration(path: AnyPath, values: dict[str, Any]) -> None:
    """Writes XML where the name ends in .xml, else YAML, so that OpenCV reads it too.

    Arrays (N,) become N x 1, (R, C, 1) R x C; bools and other integers are written as int32.
    """
    from depthgauge.io import _opencv_write

    xml = str(path).lower().endswith(".xml")
    text = (_opencv_write.as_xml if xml else _opencv_write.as_yaml)(path, values)
    write_parts(path, text.encode())
