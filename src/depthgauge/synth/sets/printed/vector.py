"""Sheets as SVG and PDF: true size, plain shapes, no library."""

from __future__ import annotations

from html import escape

from depthgauge.synth.sets.printed.sheet import Sheet

_POINTS = 72 / 25.4
"""Points of PDF in a millimetre."""
_LETTER = 0.72
"""Height of a capital of Helvetica as a share of the font's size."""


def svg(sheet: Sheet) -> str:
    """The sheet as SVG, in millimetres.

    All boxes are one path, so that no renderer leaves a seam between two of them.
    """
    width, height = sheet.size_mm
    path = " ".join(
        f"M{b.x:.6f} {b.y:.6f}h{b.width:.6f}v{b.height:.6f}h{-b.width:.6f}z" for b in sheet.boxes
    )
    texts = "\n".join(
        f'<text x="{x:.4f}" y="{y:.4f}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="{size / _LETTER:.4f}">{escape(text)}</text>'
        for x, y, size, text in sheet.texts
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:g}mm" '
        f'viewBox="0 0 {width:g} {height:g}">\n'
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>\n'
        f'<path d="{path}" fill="black"/>\n{texts}\n</svg>\n'
    )


def pdf(sheet: Sheet) -> bytes:
    """The sheet as a PDF of one page; the same sheet gives the same bytes."""
    width, height = (side * _POINTS for side in sheet.size_mm)
    lines = ["0 g"]
    for box in sheet.boxes:
        y = height - (box.y + box.height) * _POINTS  # PDF counts from below
        sides = (box.x * _POINTS, y, box.width * _POINTS, box.height * _POINTS)
        lines.append(" ".join(f"{side:.5f}" for side in sides) + " re")
    lines.append("f")
    for x, y, size, text in sheet.texts:
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        lines.append(
            f"BT /F1 {size / _LETTER * _POINTS:.4f} Tf {x * _POINTS:.4f} "
            f"{height - y * _POINTS:.4f} Td ({shown}) Tj ET"
        )
    content = "\n".join(lines).encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.5f} {height:.5f}] "
            "/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
        ).encode("ascii"),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    """Objects 1, 2 ... with the table of their places."""
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    out_at = len(out)
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, out_at)
    )
