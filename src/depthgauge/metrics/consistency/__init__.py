"""How well an estimate agrees with other views, with further estimates, and with its image."""
