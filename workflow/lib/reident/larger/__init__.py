"""The findings of a larger intruder: thin the intruder's file, fit, and extrapolate (METHODS §6.5)."""
