"""Several people's annotations of one picture as one reconstruction."""
