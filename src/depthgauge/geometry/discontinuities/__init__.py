"""Where a map jumps, and what that makes of it: edges, continuous surfaces, fine structures."""
