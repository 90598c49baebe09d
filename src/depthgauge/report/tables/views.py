"""Tables of right-view generation in the shape of StereoGenBench's: by branch, bin, control ..."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from depthgauge._tables import show_number
from depthgauge.analysis.baselines import baseline_strata, implicit_baselines, is_sweep
from depthgauge.analysis.strata import (
    FOCAL_MM,
    StratumRow,
    Value,
    by_branch,
    by_number,
    by_word,
    stratum_rows,
)
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.store.record import Run
from depthgauge.errors import Unavailable
from depthgauge.report.tables.formats import Mark, Table, TableCell, TableColumn, TableRow
from depthgauge.report.tables.leaderboard import PLAIN, TableStyle, value_marks
from depthgauge.report.tables.pivot import Pivot, input_resolution
from depthgauge.report.tables.pivot_formats import Format, render_pivots
from depthgauge.report.words.protocol import source_line

GROUPS = {
    "Reconstruction": ("psnr", "ssim", "lpips"),
    "Geometric correctness": ("e_match", "p_psnr", "sd"),
    "Distributional": ("fid", "fvd"),
}
"""The eight metrics of the main table."""
NAMES = {
    "psnr": "PSNR",
    "ssim": "SSIM",
    "lpips": "LPIPS",
    "e_match": "E_Match",
    "p_psnr": "P-PSNR",
    "sd": "SD",
    "fid": "FID",
    "fvd": "FVD",
}
"""What papers call them."""
_LATEX = {"e_match": r"$\mathcal{E}_{\mathrm{Match}}$"}
OTHER = "Further diagnostics"
_DASH = {"unavailable": "(i)", "incomplete": "(ii)", "unusable": "(iii)"}
DASHES = (
    "A dash is not a zero. (i) unavailable: it cannot be computed here because weights or an "
    "extractor are missing; (ii) incomplete: not every sample or frame has a value; (iii) "
    "unusable: there are estimates, but none that can be measured."
)
ENTRIES = (
    "Entries are means over scenes \u00b1 95 % intervals (Student's t over the scenes' means)."
)
APART = "Rows of different tiers answer different questions and are not ranked together."


_WITHOUT = {
    "controls": "run it with --controls",
    "implicit-baseline": "sd_bias, the fitted scale of disparities, is none of its scores",
    "diagnostics": "it has the main scores only",
}


def view_tables(run: Run, style: TableStyle = PLAIN) -> dict[str, Pivot]:
    """All tables that a run of right-view generation has, by name; empty for other runs."""
    if not run.facts or not run.protocol.tiers:
        return {}
    found = {name: make(run, style) for name, (_, make) in VIEW_TABLES.items()}
    return {name: pivot for name, pivot in found.items() if pivot.table.rows}


def views_text(run: Run, form: Format, name: str, style: TableStyle = PLAIN) -> str:
    """One of the tables in a format.

    Raises:
        Unavailable: The run has no such table.
    """
    if not run.facts or not run.protocol.tiers:
        raise Unavailable(
            f"{run.protocol.id} does not score right views; choose --pivot methods or regions."
        )
    pivot = VIEW_TABLES[name][1](run, style)
    if not pivot.table.rows:
        how = _WITHOUT.get(name, "its samples lack what the table is split by")
        raise Unavailable(f"{run.path}: there is nothing for --pivot {name}; {how}.")
    return render_pivots([pivot], form)


# --- tables of scores -----------------------------------------------------------------------------


def branches_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """The main table: method, type, tier, branch, eight metrics in three groups."""
    rows = stratum_rows(run, by_branch(run))
    return _scores(
        run,
        rows,
        _main_groups(run.protocol),
        ("method", "type", "tier", "branch"),
        "Right views by branch",
        "branches",
        replace(style, intervals=False),
        notes=(APART,),
    )


def diagnostics_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """What else was measured: the fit of disparities, flicker, temporal consistency."""
    main = {name for names in GROUPS.values() for name in names}
    groups = {OTHER: [s for s in run.protocol.specs if s.metric.name not in main]}
    rows = stratum_rows(run, by_branch(run)) if groups[OTHER] else []
    heads = ("method", "tier", "branch")
    title, plain = "Further diagnostics by branch", replace(style, intervals=False)
    return _scores(run, rows, groups, heads, title, "diagnostics", plain)


def baselines_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """Scores of samples in bins of the baseline; of the branch Uniform if there is one."""
    uniform = by_branch(run).get("Uniform", ())
    rows = stratum_rows(run, baseline_strata(run, uniform), whole=False)
    where = ", Uniform" if uniform else ""
    pairs = ", all pairs of each scene" if is_sweep(run) else ""
    title = f"Right views by baseline{where}{pairs}"
    return _binned(run, rows, title, "baselines", "baseline (cm)", style)


def focal_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """Scores of samples in bins of the focal length."""
    strata = by_number(run, "focal_length_mm", FOCAL_MM)
    rows = stratum_rows(run, strata, whole=False)
    title = "Right views by focal length"
    return _binned(run, rows, title, "focal-lengths", "focal length (mm)", style)


def controls_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """Views that are known to be right or wrong: the scale of every metric."""
    rows = stratum_rows(run, {"all": tuple(run.samples)}, controls=True)
    notes = ("Controls are no methods: they show what values of a metric mean.",)
    plain = replace(style, intervals=False)
    title, heads = "Calibration controls", ("control", "N_s", "N_f")
    return _scores(run, rows, _main_groups(run.protocol), heads, title, "controls", plain, notes)


def _binned(
    run: Run, rows: list[StratumRow], title: str, name: str, heading: str, style: TableStyle
) -> Pivot:
    groups = _main_groups(run.protocol, whole=False)
    heads = ("method", "tier", heading, "N_s", "N_f")
    return _scores(run, rows, groups, heads, title, name, style, (ENTRIES, APART))


def _main_groups(protocol: Protocol, whole: bool = True) -> dict[str, list[ScoreSpec]]:
    """The main scores in groups; of a benchmark without any of them, all of its scores."""
    specs = [s for s in protocol.specs if whole or s.metric.level != "dataset"]
    found = {
        group: [s for name in names for s in specs if s.metric.name == name]
        for group, names in GROUPS.items()
    }
    kept = {group: members for group, members in found.items() if members}
    return kept or {"Scores": specs}


def _scores(
    run: Run,
    rows: Sequence[StratumRow],
    groups: Mapping[str, Sequence[ScoreSpec]],
    heads: Sequence[str],
    title: str,
    name: str,
    style: TableStyle,
    notes: Iterable[str] = (),
) -> Pivot:
    specs = [spec for members in groups.values() for spec in members]
    marks = _marks(rows, specs)
    made = []
    for place, row in enumerate(rows):
        first = [_about(row, head) for head in heads]
        cells = [
            _cell(row.values.get(spec.id, Value(dash="unavailable")), marks[place, k], style)
            for k, spec in enumerate(specs)
        ]
        made.append(TableRow((*first, *cells)))
    dashed = any(row.values[s.id].dash for row in rows for s in specs if s.id in row.values)
    table = Table(
        title=title,
        columns=(
            *(_head(head) for head in heads),
            *(_score_head(run.protocol, spec, style) for spec in specs),
        ),
        rows=tuple(made),
        notes=(*notes, *([DASHES] if dashed else [])),
        name=f"views-{name}",
        source=source_line(run.protocol),
        caption=style.caption,
    )
    spans = [("", len(heads)), *((group, len(members)) for group, members in groups.items())]
    return Pivot(table, tuple(spans), in_words=True)


def _head(text: str) -> TableColumn:
    return TableColumn(text, align="right" if text in ("N_s", "N_f") else "left")


def _score_head(protocol: Protocol, spec: ScoreSpec, style: TableStyle) -> TableColumn:
    unit = spec.metric.unit_of(protocol.quantity, spec.params)
    name = spec.metric.name
    shown = NAMES.get(name, spec.id.removesuffix("@all"))
    half = (f"{spec.id} half width",) if style.intervals else ()
    fields = (spec.id, *half, f"{spec.id} absent")
    return TableColumn(shown, unit, spec.metric.better, fields=fields, latex=_LATEX.get(name, ""))


def _about(row: StratumRow, head: str) -> TableCell:
    known: dict[str, str] = {
        "method": row.label,
        "control": row.label,
        "type": row.type or "-",
        "tier": row.tier or "-",
        "N_s": str(row.scenes),
        "N_f": str(row.frames),
    }
    return TableCell(known.get(head, row.stratum))


def _cell(value: Value, mark: Mark, style: TableStyle) -> TableCell:
    half = math.nan if not style.intervals else value.half
    extra = (value.half,) if style.intervals else ()
    fields = (value.value, *extra, value.dash or None)
    if value.dash:
        counts = f" {value.used}/{value.all}" if value.dash == "incomplete" else ""
        return TableCell("-", detail=f"{_DASH[value.dash]}{counts}", fields=fields)
    detail = "" if math.isnan(half) else f"\u00b1 {show_number(half, style.digits)}"
    return TableCell(show_number(value.value, style.digits), detail, mark, fields)


def _marks(rows: Sequence[StratumRow], specs: Sequence[ScoreSpec]) -> dict[tuple[int, int], Mark]:
    """Best and second of each stratum, among the methods of one tier."""
    marks: dict[tuple[int, int], Mark] = dict.fromkeys(
        itertools.product(range(len(rows)), range(len(specs))), ""
    )
    places: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        if not row.control:
            places.setdefault((row.tier, row.stratum), []).append(place)
    for members in places.values():
        for k, spec in enumerate(specs):
            values = [rows[place].values[spec.id].value for place in members]
            if sum(not math.isnan(v) for v in values) > 1:
                for place, mark in zip(
                    members, value_marks(values, spec.metric.better), strict=True
                ):
                    marks[place, k] = mark
    return marks


# --- tables of other things -----------------------------------------------------------------------


def conditions_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """Under which conditions every method ran: what it took, at which size, aligned to what."""
    order = [*run.protocol.tiers, ""]
    entrants = sorted(run.entrants, key=lambda e: order.index(e.tier) if e.tier in order else 99)
    rows = []
    for entrant in entrants:
        said = entrant.conditions
        inputs = [str(name) for name in said.get("inputs", ())]
        geometry = [name for name in inputs if name != "left_image"]
        frames = said.get("frames")
        texts = (
            entrant.label,
            entrant.tier or "not declared",
            str(said.get("type") or "-"),
            ", ".join(inputs) or "not declared",
            ", ".join(geometry) or "none",
            input_resolution(entrant.options) or "full",
            "all" if frames is None else f"first {frames}",
            str(said.get("alignment") or "not declared"),
        )
        rows.append(TableRow(tuple(TableCell(text) for text in texts)))
    heads = (
        *("method", "tier", "type", "inputs", "geometry used", "working resolution", "frames"),
        "alignment of its views",
    )
    return _plain(run, "Inference conditions", "conditions", heads, rows, style)


def maps_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """How many scenes and frames each map has in each branch."""
    branches = by_branch(run)
    rows = []
    for name, members in by_word(run, "map_name").items():
        cells = [TableCell(name)]
        for branch in branches.values():
            cells += _counts(run, set(members) & set(branch))
        rows.append(TableRow((*cells, *_counts(run, set(members)))))
    every = [c for branch in (*branches.values(), run.samples) for c in _counts(run, set(branch))]
    if rows:
        rows.append(TableRow((TableCell("Total"), *every), apart=True))
    pairs = [(n, k) for n in (*branches, "all") for k in ("N_s", "N_f")]
    columns = [TableColumn(k, fields=(f"{n} {k}",)) for n, k in pairs]
    made = _plain(run, "Scenes and frames by map", "maps", ("map",), rows, style, columns)
    spans = [("", 1), *((name, 2) for name in (*branches, "all"))]
    return replace(made, groups=tuple(spans), in_words=True)


def _counts(run: Run, members: set[str]) -> list[TableCell]:
    scenes = len({run.scenes.get(name) or name for name in members})
    frames = sum(int(run.facts.get(name, {}).get("frames", 1)) for name in members)
    return [TableCell(str(n) if n else "-", fields=(n,)) for n in (scenes, frames)]


def implicit_pivot(run: Run, style: TableStyle = PLAIN) -> Pivot:
    """The baseline that each method seems to use, where the scale of disparities was fitted."""
    rows = []
    for found in implicit_baselines(run, by_branch(run)):
        bounds = (
            f"[{found.low_cm:.2f}, {found.high_cm:.2f}]" if found.low_cm == found.low_cm else "-"
        )
        rows.append(
            TableRow(
                (
                    TableCell(found.label),
                    TableCell(found.tier or "-"),
                    TableCell(found.stratum),
                    TableCell(str(found.scenes)),
                    _number(found.asked_cm),
                    _number(found.implied_cm),
                    TableCell(bounds),
                    _number(found.follows),
                )
            )
        )
    heads = ("method", "tier", "branch")
    columns = [
        TableColumn("N_s"),
        TableColumn("asked", "cm"),
        TableColumn("implied", "cm"),
        TableColumn("95 % interval", "cm"),
        TableColumn("follows"),
    ]
    notes = (
        "Implied: the asked baseline over the fitted scale of disparities; medians over scenes, "
        "with the interval of the median. Follows: slope of log implied over log asked; 1 follows "
        "the camera, 0 has a baseline of its own.",
    )
    title = "The baseline that methods seem to use"
    return _plain(run, title, "implicit-baseline", heads, rows, style, columns, notes)


def _number(value: float) -> TableCell:
    return TableCell("-" if math.isnan(value) else f"{value:.2f}", fields=(value,))


def _plain(
    run: Run,
    title: str,
    name: str,
    heads: Sequence[str],
    rows: Sequence[TableRow],
    style: TableStyle,
    columns: Sequence[TableColumn] = (),
    notes: Sequence[str] = (),
) -> Pivot:
    table = Table(
        title=title,
        columns=(*(TableColumn(head, align="left") for head in heads), *columns),
        rows=tuple(rows),
        notes=tuple(notes),
        name=f"views-{name}",
        source=source_line(run.protocol),
        caption=style.caption,
    )
    return Pivot(table)


_Make = Callable[[Run, TableStyle], Pivot]
VIEW_TABLES: dict[str, tuple[str, _Make]] = {
    "conditions": ("what every method was given", conditions_pivot),
    "branches": ("the main table of right-view generation", branches_pivot),
    "controls": ("views that are known to be right or wrong", controls_pivot),
    "diagnostics": ("the other scores of views", diagnostics_pivot),
    "baselines": ("scores by baseline", baselines_pivot),
    "focal-lengths": ("scores by focal length", focal_pivot),
    "implicit-baseline": ("the baseline that methods seem to use", implicit_pivot),
    "maps": ("how many scenes each map has", maps_pivot),
}
"""The tables by the name that `--pivot` takes: what each is, and what makes it."""
