"""The paired bootstrap: which units are drawn, how they are pooled, and the intervals."""
