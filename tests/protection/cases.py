"""What other tests make of protection."""

from making.report import Shape, write_results
from making.variants import PROTECTION, add_variants

FIGURES = {"protection": lambda folder: add_variants(write_results(folder, Shape(original=True)), [PROTECTION], LABELS)}
LABELS = [{"protection": name} for name in ("weak", "strong")]
CELLS = ["protection"]
