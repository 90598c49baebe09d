"""Parts of the fused pass of `moments.py`: columns, tiles and runs of pixels; terms on a GPU."""
