"""Systems of links solved surface by surface, and remembered.

No link joins two continuous surfaces, so each can be solved by itself: its solution depends on its
own pixels only, and whatever else changes in the picture, it stays the same to the last bit. So
solutions are kept under a hash of everything they depend on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.link_system import LinkSystem
from depthgauge.types import Mask

Array = NDArray[np.float64]

SMALL_PX = 1200
"""Surfaces with fewer pixels are solved by factorisation, all of them at once."""


class Piece(NamedTuple):
    """One surface, or several, in the smallest rectangle around it."""

    box: tuple[slice, slice]
    mask: Mask
    """Its pixels within the rectangle."""

    def cut(self, whole: NDArray[Any]) -> NDArray[Any]:
        """The rectangle of a map, 0 outside the surface."""
        part = whole[self.box]
        mask = self.mask if part.ndim == 2 else self.mask[..., None]
        return np.where(mask, part, np.zeros((), part.dtype))


@dataclass(frozen=True)
class Links:
    """Weights of the links to the right and downwards, and the pixels whose values are known."""

    right: NDArray[Any]
    down: NDArray[Any]
    known: Mask | None = None

    def of(self, piece: Piece) -> Links:
        """The links of one piece."""
        known = None if self.known is None else piece.cut(self.known)
        return Links(piece.cut(self.right), piece.cut(self.down), known)

    def key(self) -> bytes:
        """A hash of them. Weights are small whole numbers."""
        known = b"" if self.known is None else self.known.tobytes()
        return _hash(
            np.array(self.right.shape).tobytes(),
            self.right.astype(np.uint8).tobytes(),
            self.down.astype(np.uint8).tobytes(),
            known,
        )

    def system(self, *, direct: bool) -> LinkSystem:
        """The equations."""
        return LinkSystem(self.right, self.down, self.known, direct=direct)


@dataclass(frozen=True)
class Wanted:
    """What the values shall be: known values, or steps over links and a start for the search."""

    known_values: Array | None = None
    """(H, W, C)."""
    steps: tuple[Array, Array] | None = None
    start: Array | None = None
    """(H, W, C)."""

    def of(self, piece: Piece) -> Wanted:
        """The part of one piece."""
        return Wanted(
            None if self.known_values is None else piece.cut(self.known_values),
            None if self.steps is None else (piece.cut(self.steps[0]), piece.cut(self.steps[1])),
            None if self.start is None else piece.cut(self.start),
        )

    def key(self, links: Links) -> bytes:
        """A hash of what counts: values where they are known, steps where there is a link."""
        parts = []
        if self.known_values is not None and links.known is not None:
            parts.append(self.known_values[links.known].tobytes())
        if self.steps is not None:
            parts += [self.steps[0][links.right > 0].tobytes()]
            parts += [self.steps[1][links.down > 0].tobytes()]
        if self.start is not None:
            parts.append(self.start.tobytes())
        return _hash(*parts)


@dataclass
class PieceSolver:
    """Solves pieces, and keeps the solutions of the last calls if it is told to."""

    keep_calls: int = 1
    """A solution is dropped after so many calls that did not need it."""
    solved: int = 0
    """Number of surfaces that were solved, not found among those kept."""
    _call: int = 0
    _systems: dict[bytes, tuple[int, LinkSystem]] = field(default_factory=dict)
    _values: dict[bytes, tuple[int, tuple[Array, float]]] = field(default_factory=dict)

    def prepare(self, pieces: Pieces, links: Links) -> None:
        """Builds the solvers of large surfaces in advance; they do not depend on any values."""
        for piece in pieces.large:
            own = links.of(piece)
            self._system(own, own.key()).prepare()

    def solve(
        self,
        pieces: Pieces,
        links: Links,
        wanted: Wanted,
        tolerance: float,
        late: Callable[[], bool] | None = None,
    ) -> tuple[Array, float]:
        """The values (H, W, C), NaN where nothing determines them, and the largest residual.

        Args:
            pieces: The surfaces.
            links: Of the whole picture.
            wanted: The same.
            tolerance: The largest relative residual of each surface.
            late: Asked before each step of the search, which ends when it says yes.
        """
        self._call += 1
        channels = 1 if wanted.known_values is None else wanted.known_values.shape[2]
        values = np.full((*links.right.shape, channels), np.nan)
        residual = 0.0
        for piece, found in self._found(pieces, links, wanted, tolerance, late):
            np.copyto(values[piece.box], found[0], where=piece.mask[..., None])
            residual = max(residual, found[1])
        self._forget()
        return values, residual

    def _found(
        self,
        pieces: Pieces,
        links: Links,
        wanted: Wanted,
        tolerance: float,
        late: Callable[[], bool] | None,
    ) -> Iterator[tuple[Piece, tuple[Array, float]]]:
        for piece in pieces.large:
            own, mine = links.of(piece), wanted.of(piece)
            system_key = own.key()
            key = _hash(system_key, mine.key(own), np.float64(tolerance).tobytes())
            found = self._kept(key)
            if found is None:
                system = self._system(own, system_key)
                found = self._keep(key, _solution(system, mine, tolerance, late), late)
                self.solved += 1
            yield piece, found
        missing = []
        for number, piece in pieces.small.items():
            own, mine = links.of(piece), wanted.of(piece)
            key = _hash(own.key(), mine.key(own))
            found = self._kept(key)
            if found is None:
                missing.append((number, piece, key))
            else:
                yield piece, found
        if missing:
            joint = pieces.together([number for number, _, _ in missing])
            own = links.of(joint)
            values, residual = _solution(own.system(direct=True), wanted.of(joint), tolerance, None)
            self.solved += len(missing)
            whole = np.full((*links.right.shape, values.shape[2]), np.nan)
            whole[joint.box][joint.mask] = values[joint.mask]
            for _, piece, key in missing:
                yield piece, self._keep(key, (whole[piece.box].copy(), residual), None)

    def _system(self, links: Links, key: bytes) -> LinkSystem:
        system = self._systems[key][1] if key in self._systems else links.system(direct=False)
        self._systems[key] = (self._call, system)
        return system

    def _kept(self, key: bytes) -> tuple[Array, float] | None:
        if key not in self._values:
            return None
        found = self._values[key][1]
        self._values[key] = (self._call, found)
        return found

    def _keep(
        self, key: bytes, found: tuple[Array, float], late: Callable[[], bool] | None
    ) -> tuple[Array, float]:
        # What a time limit cut short is not the solution.
        if not (late is not None and late()):
            self._values[key] = (self._call, found)
        return found

    def _forget(self) -> None:
        oldest = self._call - self.keep_calls
        self._values = {k: v for k, v in self._values.items() if v[0] > oldest}
        self._systems = {k: v for k, v in self._systems.items() if v[0] > oldest}


@dataclass(frozen=True)
class Pieces:
    """The continuous surfaces of a picture."""

    continuous: NDArray[np.int32]
    large: tuple[Piece, ...]
    small: Mapping[int, Piece]

    @staticmethod
    def of(continuous: NDArray[np.int32]) -> Pieces:
        """Cuts the picture into its surfaces."""
        from scipy import ndimage

        counts = np.bincount(continuous.ravel())
        large, small = [], {}
        for number, box in enumerate(ndimage.find_objects(continuous), 1):
            if box is None:
                continue
            piece = Piece(box, continuous[box] == number)
            if counts[number] < SMALL_PX:
                small[number] = piece
            else:
                large.append(piece)
        return Pieces(continuous, tuple(large), small)

    def together(self, numbers: list[int]) -> Piece:
        """Several surfaces as one piece."""
        table = np.zeros(int(self.continuous.max(initial=0)) + 1, bool)
        table[numbers] = True
        boxes = [self.small[number].box for number in numbers]
        rows = slice(min(b[0].start for b in boxes), max(b[0].stop for b in boxes))
        columns = slice(min(b[1].start for b in boxes), max(b[1].stop for b in boxes))
        return Piece((rows, columns), table[self.continuous[rows, columns]])


def _solution(
    system: LinkSystem, wanted: Wanted, tolerance: float, late: Callable[[], bool] | None
) -> tuple[Array, float]:
    solved = system.solve(
        wanted.known_values, wanted.steps, wanted.start, tolerance=tolerance, late=late
    )
    return solved.values, solved.residual


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()
