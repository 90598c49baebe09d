"""How certain a reconstruction is, and what would help most."""
