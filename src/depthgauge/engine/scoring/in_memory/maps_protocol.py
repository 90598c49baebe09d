"""The protocol of maps that come with a call instead of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from depthgauge.benchmarks.aliases import meaning_of
from depthgauge.benchmarks.protocol import NO_DATASET, Protocol, make_protocol
from depthgauge.benchmarks.score_ids import parse_metric
from depthgauge.errors import BadProtocol, BadScoreId
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS, SHARED_MAPS

MASK = "mask"
"""What a protocol calls the pixels that a call limits its scores to."""
_ALWAYS = ("quantile:50", "quantile:90", "density")
"""Shown with the usual metrics of a quantity where they apply to it."""


def maps_protocol(
    ids: Iterable[str],
    quantity: str,
    *,
    masks: Iterable[str] = (),
    limits_pixels: bool = False,
    named: Mapping[str, str] | None = None,
    own: Iterable[str] = (),
    missing: str = "bad",
    align: str | Mapping[str, Any] = "none",
    estimate_resize: str = "none",
    derived: str | Iterable[str] = (),
    pool: str | None = None,
    **keys: Any,
) -> Protocol:
    """The protocol of maps that come with a call.

    Args:
        ids: Score ids; the usual ones of the quantity where there are none.
        quantity: What the maps are.
        masks: Names of regions that come as masks.
        limits_pixels: Whether another mask limits all regions.
        named: Expressions by the name of their region.
        own: Regions by their own names.
        missing: As in `score`, like those below.
        align: A kind, `kind:space`, or a table.
        estimate_resize: How sizes are matched.
        derived: Parameters of shared maps.
        pool: How samples are pooled; None: by image, or by pixel where a score is of a dataset.
        keys: Others of a benchmark, such as `crop`.
    """
    texts = (derived,) if isinstance(derived, str) else tuple(derived)
    table = align if isinstance(align, str) else tuple(sorted(dict(align or {}).items()))
    regions = (tuple(masks), limits_pixels, tuple((named or {}).items()), tuple(own))
    others = (missing, table, estimate_resize, texts, pool, tuple(sorted(keys.items())))
    changes = tuple(each.changes for each in (METRICS, QUANTITIES, REGIONS, SHARED_MAPS))
    call = (changes, tuple(ids), quantity, *regions, *others)
    try:
        kept = _kept_protocol(*call)
    except TypeError:  # something is not hashable: nobody can know whether it is the same
        return _protocol_of(*call)
    # What is kept is shared: where somebody has changed it, it is made anew.
    protocol, *parts = kept
    return protocol if parts == [protocol.regions, protocol.derived] else _protocol_of(*call)


@lru_cache(maxsize=64)
def _kept_protocol(*call: Any) -> tuple[Protocol, dict[str, str], dict[str, str]]:
    """The protocol of a call, made once for the same arguments, and what might be changed in it."""
    protocol = _protocol_of(*call)
    return protocol, dict(protocol.regions), dict(protocol.derived)


def _protocol_of(
    _: tuple[int, ...],
    ids: tuple[str, ...],
    quantity: str,
    masks: tuple[str, ...],
    limits_pixels: bool,
    named: tuple[tuple[str, str], ...],
    own: tuple[str, ...],
    missing: str,
    align: str | tuple[tuple[str, Any], ...],
    estimate_resize: str,
    derived: tuple[str, ...],
    pool: str | None,
    keys: tuple[tuple[str, Any], ...],
) -> Protocol:
    ids = tuple(meaning_of(text, quantity).score_id for text in ids)
    for name in (*masks, *dict(named)):
        check_region_name(name)
    regions = [*masks, *dict(named), *own]
    blocks = list(blocks_of(ids or default_metrics(quantity), regions))
    return _make_protocol(
        quantity=quantity,
        missing=missing,
        estimate_resize=estimate_resize,
        align=_align_table(align) if isinstance(align, str) else dict(align),
        regions=dict(named),
        derived=dict(_makers(derived)),
        given_regions=sorted({*masks, *((MASK,) if limits_pixels else ())}),
        scores=blocks,
        pool=pool or ("pixel" if any(map(_of_dataset, blocks)) else "image"),
        **dict(keys),
    )


def check_region_name(name: str) -> None:
    """Refuses names that a region of a call cannot have."""
    if not (isinstance(name, str) and name.isidentifier()):
        raise BadScoreId(f"a region's name is letters, digits and _, not '{name}'.")
    if name in REGIONS:
        raise BadScoreId(f"region '{name}' is built in and cannot be given; rename the mask.")
    if name == MASK:
        raise BadScoreId(f"no region is called '{MASK}', which limits all; rename it.")


def default_metrics(quantity: str) -> tuple[str, ...]:
    """The usual metrics of a quantity."""
    more = _ALWAYS if METRICS["density"].can_score(quantity) else ()
    return (*QUANTITIES[quantity].default_metrics, *more)


def blocks_of(ids: list[str] | tuple[str, ...], regions: list[str]) -> Iterator[dict[str, Any]]:
    """The blocks of scores that the ids stand for, on `all` and these regions."""
    for text in dict.fromkeys(ids):
        metric, at, region = text.partition("@")
        part, slash, plain = metric.rpartition("/")
        name, params = parse_metric(plain)
        block = {"metric": name, **params, "region": [region] if at else ["all", *regions]}
        yield {**block, "part": part} if slash else block


def _of_dataset(block: Mapping[str, Any]) -> bool:
    return METRICS[block["metric"]].level == "dataset"


def _align_table(text: str) -> dict[str, Any]:
    """`kind` or `kind:space` as a table of a benchmark."""
    kind, colon, space = text.partition(":")
    return {"kind": kind, "space": space} if colon else {"kind": kind}


def _makers(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The shared map that each text makes, and the text."""
    seen: set[str] = set()
    for text in texts:
        thing = SHARED_MAPS[text.partition(":")[0].strip()].provides
        if thing in seen:
            raise BadScoreId(f"{thing} is derived twice, the second time by '{text}'; keep one.")
        seen.add(thing)
        yield thing, text


def _make_protocol(**fields: Any) -> Protocol:
    body = {
        "id": "two-maps",
        "version": 1,
        "dataset": NO_DATASET,
        "estimate": {"range": "none"},
        **fields,
    }
    try:
        return make_protocol(body, "score")
    except BadProtocol as error:
        # There is no protocol file here: the mistake is in the call.
        raise BadScoreId("; ".join(str(problem) for problem in error.problems)) from None
