"""Turns expressions into the masks of a sample; each underlying region is computed once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from depthgauge._registry import unknown
from depthgauge.errors import BadScoreId, DuplicateName, Unavailable
from depthgauge.regions._region import REGIONS
from depthgauge.regions._sample import RegionsOfSample
from depthgauge.regions._shared_maps import SHARED_MAPS, SampleMaps, closure
from depthgauge.regions.expressions import Atom, Expression, parse, replace_atoms
from depthgauge.types import Map, Mask


@dataclass(frozen=True, slots=True)
class SampleRegions:
    """The masks of a sample, and why some are missing."""

    masks: dict[str, Mask]
    """By region name, in the requested order; always within the pixels with truth. Regions that
    are the same share one array: do not write into it."""
    unavailable: dict[str, str]
    """Regions that cannot be computed for this sample, with the reason."""
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The named items that each of those needs."""


def compute_regions(
    expressions: Mapping[str, str],
    truth_map: Map,
    items: Mapping[str, Any],
    *,
    quantity: str,
    declared: Collection[str] = (),
    things: SampleMaps | None = None,
) -> SampleRegions:
    """The masks of named expressions for one sample.

    A name in an expression is, in this order: a registered region; another named expression; the
    mask item `<name>_mask`; a value `<name>_<n>` of the label item `<name>_labels`; or the full
    name of a mask item (`discontinuities_mask`), which selects a dataset's own mask if a
    registered region has the same name.

    Args:
        expressions: Region names and their expressions; `{"all": "all"}` asks for a plain region.
        truth_map: (H, W) or (H, W, C) of the benchmark's quantity, NaN where missing.
        items: The sample's inputs and truth by name; only what is needed is read.
        quantity: The benchmark's quantity.
        declared: Items (`glass_mask`, `material_labels`) that other samples of the dataset have; if
            this one lacks them, regions that use them are unavailable instead of unknown.
        things: The sample's shared maps, which others may use too.

    Raises:
        UnknownName: A name is none of those; the message suggests the nearest.
        BadScoreId: A text is not an expression, has wrong parameters, or refers to itself.
        DuplicateName: An expression has the name of a registered region but means another.
    """
    named = _parsed(expressions)
    if things is None:
        things = SampleMaps(truth_map, items, quantity)
    sample = RegionsOfSample(named, truth_map, items, things, frozenset(declared))
    for expression in named.values():
        sample.check(expression)
    masks: dict[str, Mask] = {}
    unavailable: dict[str, str] = {}
    needs: dict[str, tuple[str, ...]] = {}
    for name in named:
        try:
            masks[name] = sample.mask(name)
        except Unavailable as problem:
            unavailable[name], needs[name] = str(problem), problem.needs
    return SampleRegions(masks, unavailable, needs)


def check_names(
    expressions: Mapping[str, str], items: Mapping[str, Any], declared: Collection[str] = ()
) -> None:
    """Rejects names and parameters that no sample with these items can have; nothing is read.

    Raises:
        UnknownName: There is no such region, mask or label; the message suggests the nearest.
        BadScoreId: A parameter is wrong.
    """
    named = _parsed(expressions)
    empty = np.full((1, 1), np.nan, np.float32)
    sample = RegionsOfSample(named, empty, items, SampleMaps(empty, items, ""), frozenset(declared))
    for expression in named.values():
        sample.check(expression)


def revisions(expressions: Mapping[str, str]) -> dict[str, int]:
    """The revision of every registered region used, by its text with all parameters filled in.

    >>> revisions({"flat": "visible & textureless"})
    {'textureless:3,4': 1, 'visible:1': 1}
    """
    used = {
        str(_filled(atom)): REGIONS[atom.name].revision
        for expression in _parsed(expressions).values()
        for atom in expression.atoms()
        if atom.name in REGIONS
    }
    return dict(sorted(used.items()))


def things_used(
    expressions: Mapping[str, str], needs: Iterable[str], makers: Mapping[str, str]
) -> dict[str, str]:
    """Every shared map behind some expressions and needs, with its maker's full text.

    Args:
        expressions: Region names and their expressions.
        needs: What metrics need in addition.
        makers: The texts of shared maps that are not computed in the default way.
    """
    atoms = [a for e in _parsed(expressions).values() for a in e.atoms() if a.name in REGIONS]
    wanted = {name for atom in atoms for name in REGIONS[atom.name].needs}
    return closure({*wanted, *needs}, makers)


def makers_revisions(made: Mapping[str, str]) -> dict[str, int]:
    """The revision of the maker of each shared map, by its text."""
    return {text: SHARED_MAPS[text.partition(":")[0]].revision for text in made.values()}


def defaults(text: str) -> str:
    """The canonical text of an expression with all parameters filled in.

    >>> defaults("visible&textureless:5")
    'visible:1 & textureless:5,4'
    """
    return str(replace_atoms(parse(text), _filled))


def _filled(atom: Atom) -> Atom:
    if atom.name in REGIONS:
        return Atom(atom.name, REGIONS[atom.name].fill(atom.params))
    if atom.params:
        raise unknown("region with parameters", atom.name, REGIONS)
    return atom


def _parsed(expressions: Mapping[str, str]) -> dict[str, Expression]:
    """The expressions, without cycles and without second meanings of a registered name."""
    named = {name: parse(text) for name, text in expressions.items()}
    for name, expression in named.items():
        if name in REGIONS and not _is_plain(expression, name):
            raise DuplicateName(
                f"region '{name}' is built in and cannot also mean '{expression}'; rename yours."
            )
    finished: set[str] = set()
    for name in named:
        _refuse_cycles(name, named, (), finished)
    return named


def _is_plain(expression: Expression, name: str) -> bool:
    """Whether it is the registered region itself, perhaps with its defaults written out."""
    if not isinstance(expression, Atom) or expression.name != name:
        return False
    given = None in REGIONS[name].params.values()  # it has no plain form
    return not expression.params or (not given and _filled(expression) == _filled(Atom(name)))


def _refuse_cycles(
    name: str, named: Mapping[str, Expression], trail: tuple[str, ...], finished: set[str]
) -> None:
    if name in finished:
        return
    if name in trail:
        circle = " -> ".join([*trail[trail.index(name) :], name])
        raise BadScoreId(f"region '{name}' is defined by itself: {circle}.")
    expression = named[name]
    # `glass = "glass"` is not a cycle: it asks for a plain region under its own name.
    if not isinstance(expression, Atom) or expression.name != name:
        for used in sorted(expression.names() & named.keys()):
            _refuse_cycles(used, named, (*trail, name), finished)
    finished.add(name)
