"""What a larger intruder would find: thin the intruder's file, fit, and extrapolate (METHODS §6.5)."""
