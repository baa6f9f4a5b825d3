"""Coarser values of linking variables that bring the rates of an attack under the limits (METHODS §6.4)."""
