"""Draws of ops and their references, for `scripts/ops-beside-torch.py`."""
