"""One call of a method: kept apart from the next, metered, and what it returns checked."""
