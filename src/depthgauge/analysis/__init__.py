"""Turns scores into statements: intervals, ties, ranks and their stability, oracles, agreement."""
