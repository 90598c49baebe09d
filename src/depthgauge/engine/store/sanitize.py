"""Texts that come from methods, made safe for files and tables."""

from __future__ import annotations

MOST_REASON = 1000
MOST_DETAILS = 4000


def cut(text: str, most: int = MOST_DETAILS) -> str:
    """The end of a long text; characters that UTF-8 cannot encode are escaped.

    >>> cut("abcdef", 4), len(cut(chr(0xDCFF)))
    ('cdef', 6)
    """
    return text[-most:].encode("utf-8", "backslashreplace").decode("utf-8")


def reason(text: str) -> str:
    """A failure in one line of reasonable length; the beginning matters most."""
    return cut(" ".join(text[: 2 * MOST_REASON].split())[:MOST_REASON])
