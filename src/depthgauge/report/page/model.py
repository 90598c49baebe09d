"""Everything that the HTML report shows, as plain data; any part may be absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from depthgauge._once import cached_property
from depthgauge.analysis.baselines import BaselineCurve
from depthgauge.analysis.boards.board import Board, Column
from depthgauge.analysis.comparable import has_value_errors, is_up_to_scale
from depthgauge.analysis.confidence_curves import ConfidenceCurves
from depthgauge.analysis.degradation import Degradation, table_columns
from depthgauge.analysis.difficulty.axes import AxisDifficulty
from depthgauge.analysis.maps.scatter import Scatter
from depthgauge.analysis.precision_recall import PrecisionRecall
from depthgauge.analysis.profiles import ProfileRanking
from depthgauge.analysis.seeds import SampleValues
from depthgauge.analysis.settings_roc import SettingsRoc
from depthgauge.analysis.tagged.strata import StrataTable
from depthgauge.analysis.thresholds import Curves, RankStability
from depthgauge.benchmarks import Protocol
from depthgauge.report.charts.styles import Style, styles_of
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.model import SamplePictures
from depthgauge.report.tables.pivot import Pivot
from depthgauge.report.words.protocol import describe_protocol


@dataclass(frozen=True, slots=True)
class RadarAxis:
    """One score of the radar chart."""

    name: str
    unit: str = ""
    better: str = "lower"


@dataclass(frozen=True, slots=True)
class Radar:
    """Several scores of several methods."""

    axes: tuple[RadarAxis, ...]
    values: Mapping[str, Sequence[float]]
    """One value per axis, NaN if there is none."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the numbers come from and how to reproduce them."""

    date: str = ""
    """Date of the run, as text."""
    host: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    """By what they belong to: truth, options, estimates ..."""
    left_out: tuple[str, ...] = ()
    """Samples, and `sample@region`, that were not scored."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """The whole report."""

    board: Board
    title: str
    benchmark: str
    version: int
    protocol_hash: str
    about: str = ""
    quantity: str = ""
    unit: str = ""
    about_pictures: str = ""
    """How to read the pictures, where colour bars do not say enough."""
    has_value_errors: bool = True
    """The error of a pixel is a difference of values."""
    how: Sequence[tuple[str, str]] = ()
    """What was measured and how: terms and explanations."""
    samples: SampleValues = field(default_factory=dict)
    """Label -> sample -> score id -> value."""
    examples: tuple[SamplePictures, ...] = ()
    """The best, the median and the worst sample of the best method; only its own pictures."""
    pictures: tuple[SamplePictures, ...] = ()
    curves: Curves | None = None
    stability: RankStability | None = None
    radar: Radar | None = None
    precision_recall: Mapping[str, PrecisionRecall] = field(default_factory=dict)
    """Curves of boundaries, by label."""
    confidence: tuple[ConfidenceCurves, ...] = ()
    """Errors of the most confident pixels; empty if no score asks for a confidence."""
    settings_roc: SettingsRoc | None = None
    """Errors against density of methods that were run with several options."""
    scatter: Mapping[str, Scatter] = field(default_factory=dict)
    rank_probabilities: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Label -> how likely each rank is in the main score, rank 1 first, 0..1."""
    layer_tables: tuple[Pivot, ...] = ()
    """Scores by layer and material, and how many points there are; empty without layers."""
    view_tables: tuple[Pivot, ...] = ()
    """Right-view generation by branch, control, baseline ...; empty for other quantities."""
    baseline_curves: tuple[BaselineCurve, ...] = ()
    """Scores of views along the baseline."""
    degradations: tuple[Degradation, ...] = ()
    """Scores along axes of difficulty; the long ones are left out of tables and radar."""
    difficulties: tuple[AxisDifficulty, ...] = ()
    """Where methods fail at 50 % on those axes whose scores are percentages of failures."""
    strata: tuple[StrataTable, ...] = ()
    """Scores by tags of samples and pixels; empty where nothing was noted."""
    profiles: tuple[ProfileRanking, ...] = ()
    """The methods' order by the priorities of applications."""
    provenance: Provenance = Provenance()
    notes: tuple[str, ...] = ()

    @cached_property
    def styles(self) -> Mapping[str, Style]:
        """How each method is drawn, the same in all charts."""
        return styles_of(self.board)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The scores that tables show."""
        shown = set(table_columns(self.board, self.degradations))
        return tuple(column for column in self.board.columns if column.id in shown)


def start_page(protocol: Protocol, board: Board, **parts: Any) -> Page:
    """A page with everything the protocol says; `parts` are further fields of `Page`."""
    from depthgauge.quantities import QUANTITIES

    drawing = drawing_of(protocol.quantity).spec
    given = {
        "title": protocol.title or protocol.id,
        "about": " ".join(protocol.about.split()),
        "how": describe_protocol(protocol),
    }
    return Page(
        board=board,
        benchmark=protocol.id,
        version=protocol.version,
        protocol_hash=protocol.hash,
        quantity=protocol.quantity,
        about_pictures=drawing.about_up_to_scale if is_up_to_scale(protocol) else drawing.about,
        has_value_errors=has_value_errors(protocol),
        unit=QUANTITIES[protocol.quantity].unit,
        **{**given, **parts},
    )
