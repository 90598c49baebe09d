"""Maps over the samples and methods of a run: errors, oracles, what metrics see."""
