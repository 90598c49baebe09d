"""Makes foreign text (method names, sample ids, error messages) safe for one line of output."""

from __future__ import annotations

import math
import re
import unicodedata

# Control characters, lone surrogates, and marks that turn the direction of what follows.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_SPACES = re.compile("[\t\n\x0b\x0c\r\x85\u2028\u2029]+")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$])")
_ONLY_NUMBERS = re.compile(r"[-+\d\s.,\[\]%/\u00b1]*")
_FORMULA = re.compile(r"\s*[=+\-@].")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    # LaTeX would read these two as arguments after the end of a row.
    "[": "{[}",
    "*": "{*}",
    "\u00b1": r"$\pm$",
    "\u00b2": r"\textsuperscript{2}",
    "\u00b3": r"\textsuperscript{3}",
    "\u00b0": r"$^\circ$",
    "\u2020": r"$^\dagger$",
    "\u2013": "--",
    "\u2014": "---",
    "\u2026": r"\ldots{}",
    "\u2019": "'",
}


def clean(text: str) -> str:
    r"""One line without anything that a terminal, a browser or an XML reader would act upon.

    >>> clean("two\nlines, \x1b[31mred") == "two lines, \ufffd[31mred"
    True
    """
    return _HARMFUL.sub("\ufffd", _SPACES.sub(" ", text))


def markdown(text: str) -> str:
    r"""Text for a cell of a Markdown table.

    >>> print(markdown("a|b <script>"))
    a\|b \<script\>
    """
    if _ONLY_NUMBERS.fullmatch(text):
        return clean(text)
    return _MARKDOWN.sub(r"\\\1", clean(text).replace("&", "&amp;"))


def latex(text: str) -> str:
    r"""Text for LaTeX; characters that pdflatex cannot set are named by their number.

    >>> print(latex("50 % of a_b"), latex("\u6df1"))
    50 \% of a\_b {[}U+6DF1]
    """
    return "".join(map(_latex_character, clean(text))).replace("--", "-{}-")


def _latex_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    # Every LaTeX installation can set Latin-1 and Latin Extended-A.
    if " " <= character <= "~" or (character.isalpha() and character <= "\u017e"):
        return character
    return f"{{[}}U+{ord(character):04X}]"


def spreadsheet(text: str) -> str:
    """Text for a field of CSV; what a spreadsheet would run as a formula gets an apostrophe.

    >>> spreadsheet("=cmd()"), spreadsheet("-x"), spreadsheet("a-b"), spreadsheet("-")
    ("'=cmd()", "'-x", 'a-b', '-')
    """
    cleaned = clean(text)
    return f"'{cleaned}" if _FORMULA.match(cleaned) else cleaned


def sortable(value: float) -> str:
    """A number as the page's script reads it; empty, and so last, if there is none.

    >>> sortable(0.1), sortable(float("nan")), sortable(float("-inf"))
    ('0.1', '', '-Infinity')
    """
    if math.isnan(value):
        return ""
    return repr(float(value)).replace("inf", "Infinity")


def width(text: str) -> int:
    r"""How many columns of a terminal a text takes.

    >>> width("abc"), width("\u6df1\u5ea6")
    (3, 4)
    """
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
