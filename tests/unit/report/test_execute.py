"""The kernel of the notebook: nothing that its process says reaches the terminal, and an error keeps it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import papermill
import pytest
from reident.report.execute import execute

SAYS = """
from ipykernel.kernelapp import IPKernelApp
IPKernelApp.instance().log.error("words of the kernel")
"""


def notebook(folder: Path, *cells: str) -> Path:
    node = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("number = 1", metadata={"tags": ["parameters"]}),
            *map(nbformat.v4.new_code_cell, cells),
        ],
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )
    path = folder / "some.ipynb"
    nbformat.write(node, path)
    return path


def test_what_the_kernel_says_is_dropped_and_what_a_cell_prints_is_kept(tmp_path, capfd):
    done = execute(notebook(tmp_path, SAYS, "print(number + 1)"), {"number": 3})
    assert done.cells[-1].outputs[0].text == "4\n"
    assert capfd.readouterr() == ("", "")


def test_an_error_in_a_cell_carries_what_the_kernel_said(tmp_path, capfd):
    with pytest.raises(papermill.PapermillExecutionError, match="told by the cell") as caught:
        execute(notebook(tmp_path, SAYS, "raise ValueError('told by the cell')"), {"number": 3})
    assert "words of the kernel" in "".join(caught.value.__notes__)
    assert capfd.readouterr() == ("", "")
