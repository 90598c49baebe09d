"""What needs PyTorch: networks, their training data and their training.

Modules here import PyTorch at their top, so nothing outside imports them at its own top. They
import nothing of depthgauge but each other and `_tensors`: on a machine for training, PyTorch and
NumPy are enough.
"""
