"""How estimates are drawn, one module per quantity."""
