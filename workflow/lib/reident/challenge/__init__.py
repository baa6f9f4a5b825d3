"""The attacks at hand: what an intruder finds who is not bound to the metrics of the study (METHODS §6.10)."""
