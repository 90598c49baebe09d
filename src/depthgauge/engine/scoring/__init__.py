"""Scores: prepares a sample, measures every score of a protocol, pools. It prints nothing."""
