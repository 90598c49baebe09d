"""Parts of the OASIS layout (`oasis`), some of them shared with `diw`."""
