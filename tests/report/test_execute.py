"""The kernel of the notebook: what it writes does not reach the terminal and is kept with an error."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import papermill
import pytest
from reident.report.execute import execute

LOGGING = """
from ipykernel.kernelapp import IPKernelApp
IPKernelApp.instance().log.error("message of the kernel")
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


def test_no_process_outlives_the_notebook(tmp_path):
    executed = execute(notebook(tmp_path, "import os; print(os.getpid())"), {"number": 3})
    with pytest.raises(ProcessLookupError):
        os.kill(int(executed.cells[-1].outputs[0].text), 0)


def test_output_of_the_kernel_is_dropped_and_output_of_cells_is_kept(tmp_path, capfd):
    executed = execute(notebook(tmp_path, LOGGING, "print(number + 1)"), {"number": 3})
    assert executed.cells[-1].outputs[0].text == "4\n"
    assert capfd.readouterr() == ("", "")


def test_an_error_in_a_cell_carries_the_output_of_the_kernel(tmp_path, capfd):
    with pytest.raises(papermill.PapermillExecutionError, match="raised by the cell") as caught:
        execute(notebook(tmp_path, LOGGING, "raise ValueError('raised by the cell')"), {"number": 3})
    assert "message of the kernel" in "".join(caught.value.__notes__)
    assert capfd.readouterr() == ("", "")


def test_two_kernels_in_one_folder_share_no_socket(tmp_path):
    """Two that start at once would else take the same sockets, and one reads what is meant for the other."""
    files = "import os; print(sorted(os.listdir()))"
    executed = execute(notebook(tmp_path, files), {"number": 3})
    assert executed.cells[-1].outputs[0].text == "['some.ipynb']\n"
