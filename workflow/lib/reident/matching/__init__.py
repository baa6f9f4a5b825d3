"""Matching-based identification risk of synthetic data."""

from reident.matching.options import Matching

__all__ = ["Matching"]
