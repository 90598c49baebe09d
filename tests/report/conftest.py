"""A small board with awkward names, and pages made of it."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from depthgauge.analysis.boards.board import Board, Cell, Column, Row
from depthgauge.analysis.degradation import Degradation
from depthgauge.analysis.maps.metric_maps import MetricMaps
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.analysis.maps.scatter import Scatter
from depthgauge.analysis.profiles import choose_profiles
from depthgauge.analysis.thresholds import CurvePoint, Curves, RankStability
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.measure import PreparedSample, measure
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.engine.store.record import THRESHOLDS, Curve, Entrant, Run
from depthgauge.report.charts.radar import radar_of
from depthgauge.report.page.build import build_page
from depthgauge.report.page.model import Page, Provenance
from depthgauge.report.pictures.quantities import disparity

from .views import run_views, write_views

HOSTILE = [
    "<script>alert(1)</script>",
    "a|b_c*d",
    "100 % & #1 {x} \\ ~^$",
    '=cmd(), "quoted"',
    "two\nlines \x1b[31mred",
    "\u6df1\u5ea6 \u202etxt.exe",
]
NAN = math.nan


def column(score_id, unit="%", better="lower"):
    metric, _, region = score_id.partition("@")
    return Column(score_id, metric, region, unit, better)


def plain_board():
    """Three methods, one incomplete, and an oracle; `a` and `b` are tied in the main score."""
    columns = (
        column("badpix:2@all"),
        column("mae@all", "px"),
        column("delta:1.25@all", "%", "higher"),
        column("bias@all", "px", "zero"),
    )

    def cells(bad, mae, delta, bias, ranks, group, **more):
        values = (bad, mae, delta, bias)
        made = {
            c.id: Cell(v, used=4, all=4, rank=r)
            for c, v, r in zip(columns, values, ranks, strict=True)
        }
        made["badpix:2@all"] = replace(made["badpix:2@all"], group=group, **more)
        return made

    rows = (
        Row("a", cells(12.3, 0.5, 90.0, -0.1, (1, 2, 1, 1), 0, low=11.8, high=13.1), time_s=0.5),
        Row("b", cells(12.5, 0.25, 90.0, 0.2, (2, 1, 1, 2), 0, low=11.9, high=13.3)),
        Row(
            "c",
            {
                **cells(30.0, NAN, 10.0, -3.0, (3, 3, 3, 3), 1, low=25.0, high=36.0),
                "mae@all": Cell(NAN, used=3, all=4, rank=3),
            },
            failed={"s2": "no <b>file</b> & no hope"},
            dominated_by=("a",),
        ),
        Row("best", cells(1.0, 0.1, 99.0, 0.0, (None,) * 4, None), oracle=True),
    )
    return Board(columns, rows, "badpix:2@all")


def with_hostile_names(board):
    rows = [
        replace(board.rows[0], label=name, failed={name: name}, options={name: name})
        for name in HOSTILE
    ]
    return replace(board, rows=(*rows, replace(board.rows[-1], label="<b>oracle</b>")))


@pytest.fixture
def board():
    return plain_board()


@pytest.fixture
def hostile_board(board):
    return with_hostile_names(board)


def pictures_of(labels, sample="s1", shape=(40, 60)):
    rng = np.random.default_rng(0)
    truth = rng.uniform(1, 20, shape).astype(np.float32)
    truth[:4, :4] = np.nan
    estimates = {label: truth + rng.normal(0, 1, shape).astype(np.float32) for label in labels}
    for values in estimates.values():
        values[-4:] = np.nan
    errors = {label: np.abs(values - truth) for label, values in estimates.items()}
    maps = SampleMaps(
        sample,
        "disparity",
        truth,
        images={"left_image": rng.integers(0, 256, (*shape, 3), np.uint8)},
        estimates=estimates,
        errors=errors,
        median_diffs={label: error - 1 for label, error in errors.items()},
        share_wrong=np.full(shape, 50, np.float32),
        median_error=np.median(list(errors.values()), axis=0),
        least_error=np.minimum.reduce(list(errors.values())),
        edges=truth > 10,
        metric_maps=(MetricMaps("bumps <b>", "What <b> is.", "px", truth < 15, errors),),
        why=("best of a", f"worst of {labels[-1]}"),
    )
    return disparity.draw(maps)


def run_of_errors(table, name="run", scenes=None, **protocol):
    """A run from label -> sample -> errors of its pixels; NaN: no estimate."""
    body = {
        "id": "trial",
        "version": 1,
        "dataset": "none",
        "quantity": "disparity",
        "pool": "image",
        "scores": [{"metric": "badpix", "threshold": [1, 3]}, {"metric": "mae"}],
    }
    made = make_protocol({**body, **protocol}, "trial")
    results, curves = {}, {}
    for label, samples in table.items():
        outcomes = {}
        for sample, errors in samples.items():
            error = np.asarray(errors, np.float32).reshape(1, -1)
            masks = {spec.region: np.ones(error.shape, bool) for spec in made.specs}
            prepared = PreparedSample(error, np.zeros_like(error), masks)
            scores = measure(prepared, made.specs, "disparity", made.missing, made.pool)
            known = np.abs(error[np.isfinite(error)])
            within = np.array([(known <= np.float32(t)).sum() for t in THRESHOLDS])
            curve = Curve(within, known.size, error.size - known.size)
            outcomes[sample] = Outcome(scores, curve=curve)
        results[label, 0] = gather(made, outcomes, scenes or {})
        curves[label, 0] = {sample: found.curve for sample, found in outcomes.items()}
    samples = tuple(next(iter(table.values())))
    entrants = tuple(Entrant(label, label, label, {}, "hash") for label in table)
    truth = dict.fromkeys(samples, "truth")
    return Run(Path(name), made, entrants, results, samples, scenes or {}, truth, curves)


def degradation_of(labels, stem="gap", bins=(8.0, 4.0, 2.0, 1.0), **keys):
    """A family in which every method gets worse."""
    filled = {
        "metric": "mae",
        "unit": "px",
        "better": "lower",
        "label": "width of the <gap>",
        "axis_unit": "px",
        "score_ids": tuple(f"mae@{stem}_{n}" for n in range(1, len(bins) + 1)),
        "lines": {x: tuple(k + 0.5 * n for n in range(len(bins))) for k, x in enumerate(labels)},
        "filled": (True,) * len(bins),
        "declared": True,
    }
    return Degradation(stem=stem, bins=bins, **{**filled, **keys})


def full_page(board, **parts):
    labels = [row.label for row in board.rows if not row.oracle]
    thresholds = (0.5, 1.0, 2.0, 4.0)
    curves = {
        label: [
            CurvePoint(t, 20 * k + 10, 20 * k + 5, 20 * k + 15) for k, t in enumerate(thresholds)
        ]
        for label in labels
    }
    edges = np.linspace(0, 20, 11)
    counts = np.diag(np.arange(10)) + 1
    filled = {
        "board": board,
        "title": "A <title> & more",
        "benchmark": "bench",
        "version": 2,
        "protocol_hash": "ab" * 32,
        "about": "About <this>.",
        "quantity": "disparity",
        "unit": "px",
        "how": [("Data", "All <of> it."), ("Region all", "Every pixel."), ("Metric mae", "|e|")],
        "samples": {
            label: {
                sample: {"badpix:2@all": 10.0 * k + i, "mae@all": NAN if i else 1.0}
                for i, sample in enumerate(("s1", "<i>s2</i>"))
            }
            for k, label in enumerate(labels)
        },
        "pictures": (pictures_of(labels),),
        "curves": Curves(curves, marks=(1.0, 2.0)),
        "stability": RankStability(
            thresholds,
            {label: [k + 1] * 4 for k, label in enumerate(labels)},
            {label: [10.0 * k + 1] * 4 for k, label in enumerate(labels)},
        ),
        "radar": radar_of(board, [c.id for c in board.columns]),
        "scatter": {label: Scatter(counts, edges, edges) for label in labels},
        "rank_probabilities": {
            label: [1.0 * (k == i) for i in range(len(labels))] for k, label in enumerate(labels)
        },
        "degradations": (degradation_of(labels),),
        "profiles": choose_profiles(board, ["surgery"]),
        "provenance": Provenance(
            "2026-01-02", "host", {"numpy": "2"}, ("depthgauge run <x>",), {"truth": "cd"}, ("s9",)
        ),
        "notes": ("A note.",),
    }
    return Page(**{**filled, **parts})


@pytest.fixture
def page(board):
    return full_page(board)


@pytest.fixture
def hostile_page(hostile_board):
    return full_page(hostile_board)


@pytest.fixture(scope="session")
def view_runs(tmp_path_factory):
    """By quantity: a run of three methods on nine made photographs; made when first asked for."""
    root = tmp_path_factory.mktemp("views")
    data = write_views(root / "data")
    made = {}

    def run(quantity):
        if quantity not in made:
            made[quantity] = run_views(quantity, root / quantity, data)
        return made[quantity]

    return run


@pytest.fixture(scope="session")
def view_page(view_runs):
    """By quantity: the page of that run, made once."""
    return functools.cache(lambda quantity: build_page(view_runs(quantity)))
