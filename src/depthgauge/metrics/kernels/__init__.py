"""Compiled loops behind the metrics. They are imported inside functions, since numba is heavy."""

TILE = 1 << 16
"""Pixels whose sums are added up by themselves."""
BLOCK = 1 << 10
"""Pixels of a tile whose runs are summed one after the other."""
MAX_RUNS = 32
"""A block with more runs than this is sorted by atom first."""
