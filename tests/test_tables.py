"""Small tables for people."""

from depthgauge._tables import html_table, markdown_table, text_table

COLUMNS = [("score", "left"), ("value", "right")]


def test_a_table_of_text_lines_up_and_shows_what_a_terminal_would_act_upon():
    text = text_table(COLUMNS, [["mae@\x1b[31m", "1.5"], ["b", "100.25"]])
    assert text.splitlines() == [
        "score          value",
        "------------  ------",
        "mae@\\x1b[31m     1.5",
        "b             100.25",
    ]


def test_markdown_keeps_its_columns():
    assert markdown_table(COLUMNS, [["a|b", "1"]]).splitlines()[2] == r"| a\|b | 1 |"


def test_html_is_escaped():
    page = html_table([("<h>", "left")], [["<script>alert(1)</script>"]], caption="a & <b>")
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;h&gt;" in page
    assert "a &amp; &lt;b&gt;</caption>" in page
