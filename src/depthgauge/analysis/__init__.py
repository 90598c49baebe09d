"""From scores to statements: intervals, ties, ranks and their stability, oracles, agreement."""
