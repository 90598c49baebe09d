"""Scores of batches as they come, in a training or validation loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from depthgauge._registry import unknown
from depthgauge._shorten import first_few
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.engine.scoring.in_memory.arrays import AS_GIVEN, prepare_part
from depthgauge.engine.scoring.in_memory.batches import (
    Batch,
    device_of,
    guessed_batch,
    make_batch,
    shape_of,
)
from depthgauge.engine.scoring.in_memory.device_sums import DeviceBatches, DevicePlan
from depthgauge.engine.scoring.in_memory.given_maps import as_map
from depthgauge.engine.scoring.in_memory.kept_samples import KeptSample, KeptSamples
from depthgauge.engine.scoring.in_memory.maps_protocol import MASK, maps_protocol
from depthgauge.engine.scoring.measure import measure
from depthgauge.engine.scoring.readings import notes_of, warn_of
from depthgauge.engine.scoring.result import Result
from depthgauge.errors import BadData, CannotCompare, Misuse, NothingScored
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS
from depthgauge.types import Estimate, Map, Mask, Score

SCHEMA = 1
MEMORY_LIMIT = 2**30
"""How many bytes of errors are kept for quantiles that are pooled by pixel."""


_DEFAULTS: Mapping[str, Any] = {
    "missing": "bad",
    "align": "none",
    "estimate_resize": "none",
    "crop": 0,
    "derived": (),
    "pool": None,
}


@dataclass(frozen=True)
class _Options:
    """The arguments of an accumulator, which decide its protocol."""

    metrics: tuple[str, ...]
    given: tuple[str, ...]
    """Regions that come as masks with every batch."""
    named: Mapping[str, str]
    """Regions that are expressions."""
    own: tuple[str, ...]
    """Regions that are computed, by their own names."""
    settings: Mapping[str, Any]

    def said(self) -> list[str]:
        """The arguments that are not as they are by default."""
        regions = (*self.given, *self.named, *self.own)
        changed = [name for name, value in self.settings.items() if value != _DEFAULTS[name]]
        first = {"metrics": self.metrics, "regions": regions}
        return [*(name for name, value in first.items() if value), *changed]


class Accumulator:
    """Scores batch after batch, and pools once at the end.

    The numbers are those of `dg.score` on each sample, pooled as `dg.evaluate` does, to the last
    bit and however the samples were split into batches, workers and processes: what was measured
    is kept for each sample. It can be pickled, and `state_dict()` is plain data.

    Batches on a GPU are summed there, without a copy to the host and without waiting for it before
    `compute()`, where all metrics are sums over pixels (`mae`, `rms`, `badpix`, `d1`, `epe`,
    `absrel`, `delta` ...) and all regions are masks. Counts are equal to those of the CPU then,
    and means agree to 1e-6; such scores say their `device`.

    Args:
        metrics: Score ids such as `badpix:2` or `mae`; a usual set for the quantity where none is
            given.
        regions: Names of the masks that come with every batch, and of regions that are computed
            (`discontinuities`); or a dict of names and expressions (`"glass & near:3"`), None for
            a mask that comes with every batch.
        benchmark: A benchmark's id, file or protocol, which decides everything instead.
        quantity: `disparity`, `depth`, `flow`, `normals` ...; by default what the first batch looks
            like: flow for two channels, normals for three, else disparity.
        missing: What a missing estimate costs: `bad` or `skip`.
        align: `none`, `median`, `scale` or `scale_shift`, or a table as in a benchmark.
        estimate_resize: How estimates of another size are brought to the truth's.
        crop: `garg`, `eigen`, `nyu`, a box or a border, as in `score`.
        derived: Parameters of what regions and metrics share.
        pool: `image` (the default): the mean of the samples' values; `median`: their median;
            `pixel`: all pixels together; `scene`: pixels within each scene, then the mean.
        check: Whether to test on the first sample, where the host scores it, if maps are read as
            what they are; what speaks against it is a `DepthgaugeWarning`.
        device: `cpu` scores on the host, wherever the tensors are; None: on their own device.
        memory_limit: How many bytes quantiles may keep that are pooled by pixel or scene.

    >>> import numpy as np, depthgauge as dg
    >>> accumulator = dg.Accumulator(["mae", "badpix:2"], quantity="disparity")
    >>> truth = np.full((4, 2, 3), 10.0)
    >>> accumulator.update(truth + 1, truth)
    >>> accumulator.update(truth + 3, truth)
    >>> accumulator.compute().to_dict()
    {'mae@all': 2.0, 'badpix:2@all': 50.0}
    """

    def __init__(
        self,
        metrics: str | Iterable[str] = (),
        *,
        regions: str | Iterable[str] | Mapping[str, str | None] = (),
        benchmark: str | Path | Protocol | None = None,
        quantity: str | None = None,
        missing: str = "bad",
        align: str | Mapping[str, Any] = "none",
        estimate_resize: str = "none",
        crop: int | str = 0,
        derived: str | Iterable[str] = (),
        pool: Literal["image", "pixel", "scene", "median"] | None = None,
        check: bool = True,
        device: Literal["cpu"] | None = None,
        memory_limit: int = MEMORY_LIMIT,
    ) -> None:
        if device not in (None, "cpu"):
            raise Misuse(f"device is '{device}' but must be 'cpu', or None for where tensors are.")
        self._on_host = device == "cpu"
        settings = {
            "missing": missing,
            "align": align,
            "estimate_resize": estimate_resize,
            "crop": crop,
            "derived": derived,
            "pool": pool,
        }
        ids = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        self._options = _Options(ids, *_split_regions(regions), settings)
        self._quantity, self._quantity_said = quantity, quantity is not None or bool(benchmark)
        self._to_check = check
        self._protocol: Protocol | None = None
        self._of_benchmark = benchmark is not None
        self._limits_pixels: bool | None = None
        self._device: DeviceBatches | None = None
        self._kept = KeptSamples(memory_limit)
        if benchmark is not None:
            self._take_benchmark(benchmark)
        elif quantity is not None:
            self._take_protocol(self._make_protocol(quantity, limits_pixels=False))

    def _take_benchmark(self, benchmark: str | Path | Protocol) -> None:
        said = self._options.said()
        if self._quantity is not None or said:
            name = said[0] if said else "quantity"
            raise Misuse(f"a benchmark says its {name} itself; leave {name}= out.")
        protocol = find_benchmark(benchmark)
        if protocol.twin is not None:
            raise Misuse(f"{protocol.id} is a twin, which reads files; use dg.evaluate for it.")
        if len(protocol.resolutions) > 1 or any(part for _, part in protocol.views):
            raise Misuse(
                f"{protocol.id} compares several maps of each sample; use dg.evaluate for it."
            )
        self._quantity = protocol.quantity
        self._take_protocol(protocol)

    def _make_protocol(self, quantity: str, *, limits_pixels: bool) -> Protocol:
        options = self._options
        return maps_protocol(
            options.metrics,
            quantity,
            masks=options.given,
            limits_pixels=limits_pixels,
            named=options.named,
            own=options.own,
            **options.settings,
        )

    def _take_protocol(self, protocol: Protocol) -> None:
        self._protocol = protocol
        plan = None if self._on_host else DevicePlan.of(protocol)
        self._device = None if plan is None else DeviceBatches(plan)

    @property
    def protocol(self) -> Protocol:
        """What decides the numbers.

        Raises:
            Misuse: It is not known before the first batch, because no quantity was said.
        """
        if self._protocol is None:
            raise Misuse("the quantity is not known before the first batch; say quantity=...")
        return self._protocol

    def update(
        self,
        estimate: Any,
        truth: Any,
        *,
        ids: Iterable[Any] | None = None,
        scenes: Iterable[str] | None = None,
        items: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        **masks: Any,
    ) -> None:
        """Scores a batch.

        Args:
            estimate: (B, H, W), (B, 1, H, W), (B, C, H, W) or (B, H, W, C), or a single map: an
                array, or a tensor on any device, with or without gradients.
            truth: The same.
            ids: A name or number for each sample. One that was there before is left out, such as
                those that distributed samplers add to fill up the last batch.
            scenes: The scene of each sample, for `pool="scene"`.
            items: What else metrics and regions need, by name (`rig`, `left_image` ...): a dict for
                all samples, or a list with one for each.
            masks: The pixels of each region that the accumulator names, (B, H, W) or one (H, W) for
                all; `mask=` limits everything to its pixels.

        Raises:
            WrongShape: A batch has an odd shape, or one that can be read in two ways.
            Misuse: A mask is missing, or the accumulator does not know it.
        """
        if isinstance(estimate, Mapping) or isinstance(truth, Mapping):
            raise Misuse("update() takes one map of each sample; score parts with dg.score.")
        self._check_masks(masks)
        quantity = self._quantity
        if quantity is None:
            quantity = guessed_batch(shape_of(truth), "the truth")
        self._decide(quantity, limits_pixels=MASK in masks)
        device = None if self._device is None or items is not None else device_of(estimate)
        with_batch: dict[str, Any] = {"ids": ids, "scenes": scenes, "items": items}
        batch = make_batch(estimate, truth, masks, quantity, device, **with_batch)
        new = self._kept.new_ones(batch.ids)
        if self._device is None or device is None:
            self._update_on_host(batch, new)
        else:
            self._device.update(batch, new)
            self._kept.promise(batch.ids[n] for n in new)

    def _decide(self, quantity: str, *, limits_pixels: bool) -> None:
        """Fixes at the first batch what was not said before."""
        if self._limits_pixels is None:
            if not self._of_benchmark and (self._protocol is None or limits_pixels):
                self._take_protocol(self._make_protocol(quantity, limits_pixels=limits_pixels))
            self._quantity, self._limits_pixels = quantity, limits_pixels
        elif self._limits_pixels != limits_pixels:
            was = "had" if self._limits_pixels else "had no"
            raise Misuse(f"the first batch {was} {MASK}=; give it with every batch or with none.")

    def _check_masks(self, masks: Mapping[str, Any]) -> None:
        if self._of_benchmark:
            texts = (*self.protocol.regions.values(), *(s.region for s in self.protocol.specs))
            known = {word for text in texts for word in re.findall(r"\w+", text)}
        else:
            known = {*self._options.given, MASK}
        for name in masks:
            if name not in known:
                raise unknown("region of this accumulator", name, sorted(known))
        if missing := [name for name in self._options.given if name not in masks]:
            name = missing[0]
            what = f"the mask of region '{name}', which regions= names"
            raise Misuse(f"update() needs {what}; give {name}=mask.")

    def _update_on_host(self, batch: Batch, new: Sequence[int]) -> None:
        found = []
        for n in new:
            maps = batch.estimate[n], batch.truth[n]
            scores = self._score(*maps, batch.masks_of(n), batch.items[n])
            found.append(KeptSample(batch.ids[n], batch.scenes[n], scores))
        self._kept.add(found)

    def _score(
        self, estimate: Map, truth: Map, masks: dict[str, Mask], items: Mapping[str, Any]
    ) -> dict[str, Score]:
        protocol = self.protocol
        quantity = protocol.quantity
        main = QUANTITIES[quantity].main.name
        maps = [as_map(values, quantity, channels_last=True) for values in (estimate, truth)]
        mask = masks.pop(MASK, None)
        if self._of_benchmark:
            items = {**items, **{f"{name}_mask": flags for name, flags in masks.items()}}
            masks = {}
        prepared = prepare_part(
            protocol, "", Estimate(maps[0], quantity), {main: maps[1]}, items, masks, mask
        )
        if self._to_check:
            self._to_check = False
            how: dict[str, Any] = {"quantity_said": self._quantity_said, "scales": AS_GIVEN}
            warn_of(notes_of(protocol, prepared, mask=mask, **how), stacklevel=4)
        return measure(prepared, protocol.specs, quantity, protocol.missing, protocol.pool)

    def _collect(self) -> None:
        """Copies what is still on a device to the host; this waits for it."""
        if self._device is not None:
            self._kept.add(self._device.collect(), promised=True)

    def compute(self) -> Result:
        """All scores so far and their summary; the accumulator goes on from there.

        Samples without ids are called `0`, `1` ...

        Raises:
            NothingScored: There was no sample yet.
        """
        self._collect()
        if not len(self._kept):
            raise NothingScored("compute() was called before update() had any sample.")
        return self._kept.result(self.protocol)

    def merge(self, other: Accumulator | Mapping[str, Any]) -> Self:
        """Adds the samples of another accumulator, or of its `state_dict()`; returns itself.

        The result does not depend on the order of merging. A sample whose id is there already is
        left out.

        Raises:
            CannotCompare: The other one has another protocol.
        """
        state = other.state_dict() if isinstance(other, Accumulator) else other
        samples = self._read(state)
        self._collect()
        self._kept.add(samples)
        return self

    def reset(self) -> None:
        """Forgets all samples; metrics and regions stay."""
        self._kept = KeptSamples(self._kept.memory_limit)
        if self._protocol is not None:
            self._take_protocol(self._protocol)

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self._kept) + (0 if self._device is None else len(self._device))

    def state_dict(self) -> dict[str, Any]:
        """What was measured so far as plain data: dicts, lists, numbers and text.

        For checkpoints and other processes; `torch.save`, `json` and `all_gather_object` take it.
        """
        self._collect()
        protocol = self._protocol
        return {
            "schema": SCHEMA,
            "quantity": self._quantity,
            "limits_pixels": self._limits_pixels,
            "protocol_hash": None if protocol is None else protocol.hash,
            "samples": self._kept.to_plain(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes what `state_dict()` gave, in place of all samples so far.

        Raises:
            CannotCompare: It is of another protocol.
        """
        samples = self._read(state)
        self.reset()
        self._kept.add(samples)

    def _read(self, state: Mapping[str, Any]) -> list[KeptSample]:
        """The samples of a state; what the first batch would decide is decided by it."""
        if state.get("schema") != SCHEMA:
            raise BadData(f"this is not a state of an Accumulator of schema {SCHEMA}.")
        if not state["samples"]:
            return []
        self._decide(state["quantity"], limits_pixels=bool(state["limits_pixels"]))
        if state["protocol_hash"] != self.protocol.hash:
            ours = first_few(self.protocol.score_ids, 5)
            raise CannotCompare(
                "the other accumulator has other metrics, regions or settings than this one "
                f"({ours}); make both with the same arguments."
            )
        return [KeptSample.from_plain(each) for each in state["samples"]]

    def __getstate__(self) -> dict[str, Any]:
        self._collect()  # tensors stay where they are
        return {**self.__dict__, "_device": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._protocol is not None:
            self._take_protocol(self._protocol)

    def __repr__(self) -> str:
        ids = self._options.metrics if self._protocol is None else self._protocol.score_ids
        return f"Accumulator({first_few(list(ids), 5) or 'the usual metrics'}; {len(self)} samples)"


def _split_regions(
    regions: str | Iterable[str] | Mapping[str, str | None],
) -> tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]:
    """Names of masks that come with batches, expressions by name, and regions by their own name."""
    if isinstance(regions, Mapping):
        given = tuple(name for name, text in regions.items() if text is None)
        return given, {name: text for name, text in regions.items() if text is not None}, ()
    names = (regions,) if isinstance(regions, str) else tuple(regions)
    own = tuple(name for name in names if name.partition(":")[0] in REGIONS)
    return tuple(name for name in names if name not in own), {}, own
