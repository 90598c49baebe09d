"""Runs of pixels in one atom, block by block; see `metrics/fused/runs.py`.

These kernels and those that sum are long on purpose: numba compiles a function that is called by
another one once for each level, and the user waits for it.
"""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import banded, compiled
from depthgauge.metrics.kernels import BLOCK, MAX_RUNS, TILE


@banded("found", cost=1)
def find_runs(begin, end, codes, lookup, empty_atom, begins, ends, atoms, found):
    """Finds the runs of each tile in regions; the number is -1 if some block is rough.

    Args:
        begin: First tile.
        end: The tile after the last.
        codes: Flat plane of the regions; `lookup[code]` is the atom.
        lookup: From code to atom.
        empty_atom: The atom of the pixels that are in no region, or -1.
        begins: (tiles, runs) the first pixel of a run, from the beginning of the tile.
        ends: The pixel after the last.
        atoms: The atom of each run.
        found: (tiles,) the number of runs.
    """
    for t in range(begin, end):
        n, base = 0, t * TILE
        for start in range(base, min(base + TILE, codes.size), BLOCK):
            block = codes[start : min(start + BLOCK, codes.size)]
            code, first, runs = block[0], 0, 1
            others = np.int32(0)
            for i in range(block.size):
                # Numba adds 32-bit numbers as 64-bit ones; cutting back keeps the vectors narrow.
                others = np.int32(others + np.int32(block[i] != code))
            for i in range(1 if others else block.size, block.size + 1):
                if i < block.size and block[i] == code:
                    continue
                if lookup[code] != empty_atom:
                    begins[t, n] = start - base + first
                    ends[t, n] = start - base + i
                    atoms[t, n] = lookup[code]
                    n += 1
                if i < block.size:
                    code, first, runs = block[i], i, runs + 1
                    if runs > MAX_RUNS:
                        break
            if runs > MAX_RUNS:
                n = -1
                break
        found[t] = n


@compiled()
def sort_runs(codes, lookup, empty_atom, counts, order, begins, ends, atoms, found):
    """The pixels of one tile in regions, with rough blocks sorted by atom; and their runs.

    Args:
        codes: Plane of the tile's regions.
        lookup: From code to atom.
        empty_atom: The atom of the pixels that are in no region, or -1.
        counts: Space for one number per atom.
        order: Becomes the places of these pixels in the tile.
        begins: (runs,) the first pixel of each run, in this order.
        ends: The pixel after the last.
        atoms: The atom of each run.
        found: (1,) the number of runs.
    """
    n, total = 0, 0
    single = counts.size == 2 and empty_atom == 0
    for start in range(0, codes.size, BLOCK):
        block = codes[start : min(start + BLOCK, codes.size)]
        changes = np.int32(0)
        for i in range(block.size - 1):
            changes = np.int32(changes + np.int32(block[i] != block[i + 1]))
        if changes < MAX_RUNS:
            first = 0
            for i in range(1, block.size + 1):
                if i < block.size and block[i] == block[first]:
                    continue
                a = lookup[block[first]]
                if a != empty_atom:
                    places = order[total : total + i - first]
                    for j in range(places.size):
                        places[j] = start + first + j
                    begins[n], ends[n], atoms[n] = total, total + places.size, a
                    total += places.size
                    n += 1
                first = i
        elif single:
            begins[n], atoms[n] = total, 1
            last = total
            for i in range(block.size):
                order[last] = start + i
                last += lookup[block[i]]
            total = last
            ends[n] = total
            n += 1
        else:
            for a in range(counts.size):
                counts[a] = 0
            for i in range(block.size):
                counts[lookup[block[i]]] += 1
            for a in range(counts.size):
                size, counts[a] = counts[a], total
                if size > 0 and a != empty_atom:
                    begins[n], ends[n], atoms[n] = total, total + size, a
                    n += 1
                    total += size
            for i in range(block.size):
                a = lookup[block[i]]
                if a != empty_atom:
                    order[counts[a]] = start + i
                    counts[a] += 1
    found[0] = n
