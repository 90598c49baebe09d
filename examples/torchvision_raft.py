"""A network of torchvision as a method: `depthgauge run ... -m examples/torchvision_raft.py`."""

import torch
from torchvision.models.optical_flow import raft_small

NET = raft_small(weights=None).eval()  # your own weights: NET.load_state_dict(torch.load(...))


def estimate(inputs):
    """Flow (H, W, 2) in px; sides are extended to multiples of 8, as RAFT wants them."""
    pair = [torch.from_numpy(inputs[n]).permute(2, 0, 1)[None] / 127.5 - 1 for n in NAMES]
    height, width = pair[0].shape[2:]
    more = (0, -width % 8, 0, -height % 8)
    with torch.inference_mode():
        flow = NET(*(torch.nn.functional.pad(p, more, mode="replicate") for p in pair))[-1]
    return flow[0, :, :height, :width].permute(1, 2, 0).numpy()


NAMES = ("first_image", "second_image")
