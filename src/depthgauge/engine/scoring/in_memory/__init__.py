"""Scores of arrays and files that come with a call: two maps, batches, a training loop."""
