"""Runs: many methods on many samples, in this process, in worker processes or on a cluster."""
