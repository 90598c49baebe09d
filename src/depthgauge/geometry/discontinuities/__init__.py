"""Where a map jumps, and what follows from it: edges, continuous surfaces, fine structures."""
