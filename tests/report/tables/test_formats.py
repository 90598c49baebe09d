"""Tables in four formats, with names that try to break them."""

import csv
import io
import math
import re
import shutil
import subprocess

import pytest

from depthgauge.report.tables.formats import (
    Table,
    TableCell,
    TableColumn,
    TableRow,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from depthgauge.report.tables.leaderboard import leaderboard_table

TABLE = Table(
    "Scores",
    (TableColumn("method", align="left"), TableColumn("mae", "px", "lower")),
    (
        TableRow((TableCell("a_b"), TableCell("1.000", "[0.900, 1.200]", "best", (1.0,)))),
        TableRow((TableCell("c"), TableCell("12.500", "", "second", (12.5,)))),
        TableRow((TableCell("d"), TableCell("-", "", "incomplete", (math.nan,)))),
        TableRow((TableCell("best"), TableCell("0.100", "", "", (0.1,))), apart=True),
    ),
    notes=("A note.",),
    name="Scores of A",
    source="bench version 1, protocol abc",
)


def test_text_lines_up():
    assert to_text(TABLE) == (
        "Scores\n"
        "method            mae [px] \u2193\n"
        "------  ---------------------\n"
        "a_b     1.000 [0.900, 1.200]*\n"
        "c                     12.500+\n"
        "d                          -\n"
        "------  ---------------------\n"
        "best                   0.100\n"
        "* best, + second best.\n"
        "A note.\n"
        "bench version 1, protocol abc\n"
    )


def test_markdown():
    assert to_markdown(TABLE) == (
        "**Scores**\n\n"
        "| method | mae \\[px\\] \u2193 |\n"
        "| :-- | --: |\n"
        "| a\\_b | **1.000** [0.900, 1.200] |\n"
        "| c | *12.500* |\n"
        "| d | - |\n"
        "| best | 0.100 |\n\n"
        "**Bold**: best, *italic*: second best.\n\n"
        "A note.\n\n"
        "bench version 1, protocol abc\n"
    )


def test_csv_has_every_digit_and_no_marks():
    third = 1 / 3
    row = TableRow((TableCell('x, "y"'), TableCell("0.333", fields=(third,))))
    text = to_csv(Table("", TABLE.columns, (row, TABLE.rows[2])))
    assert text == f'method,mae\r\n"x, ""y""",{third!r}\r\nd,\r\n'
    assert float(list(csv.reader(io.StringIO(text)))[1][1]) == third


def test_latex():
    assert to_latex(TABLE).splitlines() == [
        r"% needs \usepackage{booktabs}",
        "% bench version 1, protocol abc",
        "% A note.",
        r"\begin{table}[t]",
        r"  \centering",
        r"  \caption{Scores. Bold: best, underlined: second best.}",
        r"  \label{tab:scores-of-a}",
        r"  \begin{tabular}{lr}",
        r"    \toprule",
        r"    method & mae {[}px] $\downarrow$ \\",
        r"    \midrule",
        r"    a\_b & \textbf{1.000} {\scriptsize {[}0.900, 1.200]} \\",
        r"    c & \underline{12.500} \\",
        r"    d & - \\",
        r"    \midrule",
        r"    \textit{best} & \textit{0.100} \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def test_csv_of_a_board_gives_its_values_back(hostile_board):
    text = to_csv(leaderboard_table(hostile_board))
    head, *rows = list(csv.reader(io.StringIO(text, newline="")))
    assert head[:6] == [
        "method",
        "badpix:2@all",
        "badpix:2@all low",
        "badpix:2@all high",
        "badpix:2@all rank",
        "badpix:2@all group",
    ]
    assert len(rows) == len(hostile_board.rows)
    assert all(len(row) == len(head) for row in rows)
    for row, board_row in zip(rows, hostile_board.rows, strict=True):
        for name in board_row.cells:
            assert float(row[head.index(name)]) == board_row.cells[name].value
    assert rows[3][0] == '=cmd(), "quoted"'


def test_hostile_names_stay_in_their_cells(hostile_board):
    table = leaderboard_table(hostile_board)
    text = to_text(table)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 4 + len(table.rows) + 1 + len(table.notes)
    lines = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(table.rows)
    pipes = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert pipes == {len(table.columns) + 1}
    assert "\\<script\\>" in to_markdown(table)


def test_latex_of_hostile_names_keeps_its_structure(hostile_board):
    table = leaderboard_table(hostile_board, title="50 % of $x_1$ {", source="p\nq")
    lines = to_latex(table).splitlines()
    assert lines[1] == "% p q"
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 1 + len(table.rows)
    plain = [re.sub(r"\\[\\{}$&#%_]", "", line.removesuffix(r"\\")) for line in rows]
    assert {line.count("&") for line in plain} == {len(table.columns) - 1}
    for line in plain:
        assert line.count("{") == line.count("}")
        assert line.count("$") % 2 == 0
        assert not set(line) & set("#%^~<>|") - ({"^"} if "dagger" in line else set())
        assert not line.strip().startswith(("[", "*"))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(hostile_board, tmp_path):
    body = to_latex(leaderboard_table(hostile_board, ["badpix:2@all"], title="[*] 50 %"))
    packages = "\\documentclass{article}\\usepackage{booktabs}"
    (tmp_path / "t.tex").write_text(f"{packages}\\begin{{document}}{body}\\end{{document}}")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:]


def test_every_character_of_a_keyboard_is_escaped_for_latex():
    from depthgauge.report.sanitize import latex

    assert latex("\\{}$&#%_~^<>|[*") == (
        r"\textbackslash{}\{\}\$\&\#\%\_\textasciitilde{}\textasciicircum{}"
        r"\textless{}\textgreater{}\textbar{}{[}{*}"
    )
    assert latex("a--b\u00b2") == r"a-{}-b\textsuperscript{2}"
    assert latex("\ud800") == "{[}U+FFFD]"
