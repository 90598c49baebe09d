"""What the light-field methods (`lf_*`) share."""
