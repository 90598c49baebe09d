"""Scoring: prepares a sample, measures every score of a protocol, and pools. Prints nothing."""
