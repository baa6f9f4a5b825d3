"""Which coarser values of linking variables bring the rates of an attack under the limits (METHODS §6.4)."""
