"""Generators whose samples are made by the executors of a run: many processes, or a cluster."""
