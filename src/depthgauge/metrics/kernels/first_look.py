"""Whether some pixels of two maps show at once that they are read as what they are."""

from __future__ import annotations

import numpy as np

from depthgauge._compiled import compiled


@compiled()
def first_look(estimate, truth, places, lowest, highest, likely_most, fewest, most, marks, seen):
    """What `readings.py` asks first, in one pass.

    Args:
        estimate: Flat float32.
        truth: The same.
        places: The pixels to look at.
        lowest: Truths below it are not known.
        highest: And those above it.
        likely_most: Depth in metres is hardly larger.
        fewest: A value that occurs as often may be a mark.
        most: And one that occurs more often is none.
        marks: Whether 0 and -1 may be marks.
        seen: Becomes the number of pixels with both values, their mean error, the spread of their
            truths, whether a value may be a mark, whether the truth may be depth, whether an
            estimate or a truth is infinite.
    """
    known, above, both, infinite = 0, 0, 0, 0
    least = np.float32(np.inf)
    errors, truths = 0.0, 0.0
    zeros, ones, largest, equal = np.zeros((4, 2))
    largest[:] = -np.inf
    for i in range(places.size):
        e, t = estimate[places[i]], truth[places[i]]
        has_e, has_t = abs(e) < np.inf, (t >= lowest) & (t <= highest)
        infinite += (abs(e) == np.inf) | (abs(t) == np.inf)
        if has_t:
            known += 1
            above += t > likely_most
            least = min(least, t)
            if has_e:
                both += 1
                errors += abs(np.float64(e) - t)
                truths += t
        for side in range(2):
            value, there = (e, has_e) if side == 0 else (t, has_t)
            if there:
                zeros[side] += value == 0
                ones[side] += value == -1
                if value > largest[side]:
                    largest[side], equal[side] = value, 1
                elif value == largest[side]:
                    equal[side] += 1
    mean, spread = truths / max(both, 1), 0.0
    for i in range(places.size):
        e, t = estimate[places[i]], truth[places[i]]
        if (abs(e) < np.inf) & (t >= lowest) & (t <= highest):
            spread += abs(t - mean)
    seen[0] = both
    seen[1] = errors / max(both, 1)
    seen[2] = spread / max(both, 1)
    seen[3] = 0.0
    for side in range(2):
        for n in (zeros[side], ones[side]):
            seen[3] += marks & (n >= fewest) & (n <= most)
        seen[3] += (largest[side] > 0) & (equal[side] >= fewest) & (equal[side] <= most)
    # The value that 99 % do not exceed is larger than that of any depth: as many are above.
    seen[4] = (known > 0) & (least > 0) & (above < known - 99 * known // 100)
    seen[5] = infinite > 0
