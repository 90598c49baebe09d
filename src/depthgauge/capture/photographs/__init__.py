"""What photographs of a session are worth: how they moved, how they were exposed."""
