"""Matching-based identification risk of synthetic data (METHODS §8)."""
