"""What the methods that make views share: a picture moved by its disparity, and holes filled."""
