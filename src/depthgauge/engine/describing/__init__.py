"""What a dataset contains and how difficult it is, without any method."""
