"""Compiled loops behind the metrics. They are imported inside functions, since numba is heavy."""
