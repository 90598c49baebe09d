"""Tables of a ranking study: agreement, and the ranks of every experiment as in Honauer 2019."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from depthgauge.analysis.agreement import Agreement, Correlation, Study
from depthgauge.report.tables.formats import Table, TableCell, TableColumn, TableRow

NOTE = (
    "Mean of Kendall's tau-b over pairs of rankings (their number): 1 is the same order, 0 no "
    "relation, -1 the reverse. Within: two rankings of one person; between: of two people."
)
_KINDS = {"within": "within", "between": "between", "with_metric": "with the metric"}


def agreement_table(study: Study, digits: int = 2) -> Table:
    """How well people agree with themselves, with each other and with the metric."""
    columns = [
        TableColumn("experiment", align="left"),
        TableColumn("variant", align="left"),
        TableColumn("graders"),
        *(
            TableColumn(text, fields=tuple(f"{kind} {part}" for part in ("tau", "rho", "pairs")))
            for kind, text in _KINDS.items()
        ),
    ]
    rows = [
        TableRow(
            (
                TableCell(one.experiment),
                TableCell(one.variant),
                TableCell(str(len(one.graders)), fields=(len(one.graders),)),
                *(_cell(getattr(one, kind), digits) for kind in _KINDS),
            )
        )
        for one in study.agreements
    ]
    return Table("Agreement of rankings", tuple(columns), tuple(rows), (NOTE,), "agreement")


def rank_tables(study: Study) -> list[Table]:
    """For every experiment: the metric's scores and ranks, and each person's, method by method."""
    names = dict.fromkeys(one.experiment for one in study.agreements)
    return [_rank_table(study, name) for name in names]


def _rank_table(study: Study, experiment: str) -> Table:
    own = [one for one in study.agreements if one.experiment == experiment]
    methods = own[0].methods
    columns = (
        *(TableColumn(name, align="left") for name in ("who", "variant", "repeat")),
        *(TableColumn(method) for method in methods),
    )
    rows = []
    if experiment in study.scores:
        values = study.scores[experiment].scores
        rows.append(_row("metric", "score", "", [values[method] for method in methods]))
        ranks = study.metric_ranks[experiment]
        rows.append(_row("metric", "rank", "", [ranks[method] for method in methods]))
    for one in study.rankings:
        if one.experiment == experiment:
            line = [one.ranks[method] for method in methods]
            rows.append(_row(one.grader, one.variant, str(one.repeat), line))
    for found in own:
        line = [found.mean_ranks[method] for method in methods]
        rows.append(_row("mean rank", found.variant, "", line, apart=True))
    notes = tuple(f"{_name(found)}: {_words(found)}" for found in own)
    label = re.sub(r"[^a-z0-9]+", "-", f"ranks {experiment}".lower())
    return Table(f"Ranks: {experiment}", columns, tuple(rows), notes, label)


def _row(
    who: str, variant: str, repeat: str, values: Sequence[float], *, apart: bool = False
) -> TableRow:
    cells = [TableCell(who), TableCell(variant), TableCell(repeat)]
    for value in values:
        known = not math.isnan(value)
        text = f"{value:.4g}" if known else "-"
        cells.append(TableCell(text, fields=(value if known else None,)))
    return TableRow(tuple(cells), apart)


def _cell(found: Correlation, digits: int) -> TableCell:
    if not found.pairs:
        return TableCell("-", fields=(None, None, 0))
    fields = (found.tau, found.rho, found.pairs)
    return TableCell(f"{found.tau:.{digits}f}", f"({found.pairs})", fields=fields)


def _name(found: Agreement) -> str:
    return found.variant or found.experiment


def _words(found: Agreement) -> str:
    kinds = {text: getattr(found, kind) for kind, text in _KINDS.items()}
    said = [f"{text} {one.tau:.2f}" for text, one in kinds.items() if one.pairs]
    return f"tau {', '.join(said)}." if said else "no two rankings can be compared."
