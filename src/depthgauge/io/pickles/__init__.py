"""Pickles, interpreted without running them."""
