"""Names of metrics that papers and other tools use, and our ids for them.

Only what people type is translated (`--metric EPE`, `dg.score(..., "a1")`): tables, JSON, hashes
and benchmark files have our ids. What a name means can depend on the quantity: of disparity, `epe`
is `mae`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from depthgauge._registry import unknown
from depthgauge.errors import BadScoreId
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES

_MEANINGS: dict[str, tuple[str, ...]] = {
    "epe": ("epe", "mae"),
    "aepe": ("epe", "mae"),
    "aee": ("epe", "mae"),
    "endpoint_error": ("epe", "mae"),
    "end_point_error": ("epe", "mae"),
    "avgerr": ("mae", "epe"),
    "avg_err": ("mae", "epe"),
    "avg_error": ("mae", "epe"),
    "mean_absolute_error": ("mae",),
    "mean_abs_error": ("mae",),
    "l1": ("mae",),
    "rmse": ("rms",),
    "rms_error": ("rms",),
    "mean_squared_error": ("mse",),
    "abs_rel": ("absrel",),
    "abs_relative": ("absrel",),
    "abs_rel_diff": ("absrel",),
    "are": ("absrel",),
    "rel": ("absrel",),
    "mre": ("absrel",),
    "mean_relative_error": ("absrel",),
    "sq_rel": ("sqrel",),
    "sq_relative": ("sqrel",),
    "squared_rel": ("sqrel",),
    "rms_log": ("rmse_log",),
    "rmselog": ("rmse_log",),
    "log_rmse": ("rmse_log",),
    "log_10": ("log10",),
    "si_log": ("silog",),
    "d1_all": ("d1@all",),
    "d1_noc": ("d1@visible",),
    "fl_all": ("fl@all",),
    "f1_all": ("fl@all",),
    "fl_noc": ("fl@visible",),
    "bad": ("badpix", "npx"),
    "bad_pix": ("badpix", "npx"),
    "bad_pixel": ("badpix", "npx"),
    "bad_pixels": ("badpix", "npx"),
    "aae": ("flow_angle",),
    "average_angular_error": ("flow_angle",),
    "mean_angular_error": ("mean_angle", "angular_error"),
    "median_error": ("quantile:50",),
}
"""By name: our ids; the first one that can score the quantity is meant."""

_POWERS = {"1": "1.25", "2": "1.5625", "3": "1.953125"}
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:a|delta|d|δ)_?<?_?([123])"), "delta"),
    (re.compile(r"(?:bad|badpix|bad_pix|bad_pixels?)_?((?:[0-9]*\.)?[0-9]+)(?:_?px)?"), "over"),
    (re.compile(r"(?:npx_?)?((?:[0-9]*\.)?[0-9]+)_?px(?:_error)?"), "over"),
    (re.compile(r"a_?([0-9]{2})"), "quantile"),
)
"""Families of names with a number in them."""


@dataclass(frozen=True)
class Meaning:
    """What a typed name means here."""

    typed: str
    score_id: str

    @property
    def note(self) -> str:
        """The sentence about it; empty if our own id was typed."""
        return "" if self.typed == self.score_id else f"{self.typed} is {self.score_id} here"


def meaning_of(text: str, quantity: str) -> Meaning:
    """The score id that a text stands for: our own, or a name of papers and other tools.

    Args:
        text: `badpix:2`, `EPE`, `a1`, `bad-2.0@front`, `disparity/rmse` ...
        quantity: What is scored.

    Raises:
        UnknownName: No metric has such a name; the nearest are named.
        BadScoreId: A name that says its region already has another one.

    >>> meaning_of("EPE", "disparity").score_id, meaning_of("epe", "flow").score_id
    ('mae', 'epe')
    >>> meaning_of("bad-2.0@front", "disparity").note
    'bad-2.0@front is badpix:2@front here'
    """
    typed = text.strip()
    metric, at, region = typed.partition("@")
    part, slash, plain = metric.rpartition("/")
    name, colon, params = plain.partition(":")
    of = QUANTITIES[quantity].of_part(part).name if slash else quantity
    if name in METRICS and METRICS[name].can_score(of):
        return Meaning(typed, typed)
    candidates = list(_candidates(name))
    # A name of another quantity is unchanged: scoring reports it.
    found = next(
        (known for known in candidates if _can_score(known, of)), next(iter(candidates), "")
    )
    if not found:
        raise unknown("metric", name, METRICS)
    found, own_at, own_region = found.partition("@")
    if own_at and at and region != own_region:
        raise BadScoreId(f"'{typed}' names two regions; {name} is {found}@{own_region} here.")
    if colon and ":" in found:
        raise BadScoreId(f"'{typed}' gives its parameter twice; {name} is {found} here.")
    where = f"@{own_region or region}" if own_at or at else ""
    return Meaning(typed, f"{part}{slash}{found}{colon}{params}{where}")


def notes(typed: Iterable[str], quantity: str) -> str:
    """One sentence about all names that are not our own; empty if there are none.

    >>> notes(["EPE", "rms", "bad2"], "disparity")
    'EPE is mae here, bad2 is badpix:2.'
    """
    meanings = (meaning_of(text, quantity) for text in dict.fromkeys(typed))
    others = [meaning for meaning in meanings if meaning.note]
    if not others:
        return ""
    more = (f"{each.typed} is {each.score_id}" for each in others[1:])
    return ", ".join([others[0].note, *more]) + "."


def nearest_meaning(name: str) -> str:
    """Our name for another name, for any quantity; empty if there is none."""
    known = next(_candidates(name), "")
    return known if known and known != name else ""


def _candidates(name: str) -> Iterator[str]:
    folded = re.sub(r"[\s-]+", "_", name.strip().lower())
    if folded in METRICS:
        yield folded
    yield from _MEANINGS.get(folded, ())
    for pattern, family in _PATTERNS:
        if fit := pattern.fullmatch(folded):
            yield from _of_family(family, fit[1])


def _of_family(family: str, number: str) -> Iterator[str]:
    if family == "delta":
        yield f"delta:{_POWERS[number]}"
    elif family == "quantile":
        yield f"quantile:{number}"
    else:
        yield from (f"{name}:{float(number):g}" for name in ("badpix", "npx"))


def _can_score(score_id: str, quantity: str) -> bool:
    return METRICS[score_id.partition("@")[0].partition(":")[0]].can_score(quantity)
