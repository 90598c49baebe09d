"""Public datasets of image pairs: two views, two times, or both. One file per layout."""
