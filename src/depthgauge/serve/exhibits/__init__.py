"""What pages show of public samples: pictures, maps, curves, point clouds, drawn by workers."""
