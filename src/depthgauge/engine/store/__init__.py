"""What a run keeps on disk: items, tables, estimates, and how they are read back."""
