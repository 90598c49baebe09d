"""Training data, made on the device that trains: the truth is exact by construction."""
