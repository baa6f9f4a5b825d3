"""The kernel of the notebook: what it writes does not reach the terminal and is kept with an error."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import nbformat
import papermill
import pytest
from reident.report import kernel
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


@pytest.fixture(params=[False, True], ids=["kernel of its own", "copy"], autouse=True)
def is_copied(request, monkeypatch) -> bool:
    """Whether the kernel is a copy of this process."""
    if request.param and sys.platform != "linux":
        pytest.skip("there are copies on Linux only")
    monkeypatch.setattr(kernel, "may_be_copied", lambda: request.param)
    return request.param


KIND = """
import os, sys
print("reident.report.kernel" in sys.modules, os.getsid(0) == os.getpid(), sys.stdin.read() == "", __name__)
print(os.environ["PYTHONHASHSEED"], "PYTEST_CURRENT_TEST" in os.environ)
"""


def test_a_copy_is_a_kernel_like_any_other(tmp_path, is_copied):
    executed = execute(notebook(tmp_path, KIND), {"number": 3})
    assert executed.cells[-1].outputs[0].text == f"{is_copied} True True __main__\n0 True\n"


def test_no_process_outlives_the_notebook(tmp_path):
    executed = execute(notebook(tmp_path, "import os; print(os.getpid())"), {"number": 3})
    with pytest.raises(ProcessLookupError):
        os.kill(int(executed.cells[-1].outputs[0].text), 0)


def test_a_copy_that_is_not_needed_ends(is_copied):
    if is_copied:
        with kernel.copied() as copy:
            assert copy.poll() is None
        assert copy.poll() == -signal.SIGKILL
        with pytest.raises(ChildProcessError):
            os.waitpid(copy.pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="there are copies on Linux only")
def test_copies_leave_no_descriptor_open():
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    with kernel.copied(), kernel.copied():
        pass
    assert len(list(descriptors.iterdir())) == before


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


CLOSED = """
import os, subprocess, sys
from pathlib import Path

refused = []
def attempt(name, do):
    try:
        do()
    except (PermissionError, ImportError):
        refused.append(name)

results = Path("..") / "results"
attempt("read", lambda: (results / "rates.csv").read_text())
attempt("open", lambda: open(results / "rates.csv"))
attempt("os.open", lambda: os.open(results / "rates.csv", os.O_RDONLY))
attempt("list", lambda: os.listdir(results))
attempt("scan", lambda: os.scandir(results))
attempt("iterate", lambda: list(results.iterdir()))
attempt("above", lambda: os.open("..", os.O_RDONLY))
attempt("write", lambda: (results / "new.csv").write_text(""))
attempt("program", lambda: subprocess.run(["cat", str(results / "rates.csv")]))
attempt("system", lambda: os.system("true"))
attempt("import", lambda: __import__("pyarrow"))
print(*refused)
print(Path("attack.csv").read_text(), "REIDENT_CLOSED" in os.environ)
"""


def test_a_notebook_to_which_something_is_closed_is_in_no_copy_of_a_process_that_has_read_it(tmp_path):
    executed = execute(notebook(tmp_path, KIND), {"number": 3}, closed=(tmp_path / "results",))
    assert executed.cells[-1].outputs[0].text.startswith("False ")


def test_a_notebook_cannot_open_what_is_closed_to_it(tmp_path):
    for name in ("results/rates.csv", "public/attack.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("n")
    parameters = {"table": tmp_path / "public" / "attack.csv"}
    executed = execute(notebook(tmp_path, CLOSED), parameters, closed=(tmp_path / "results",))
    words = "read open os.open list scan iterate above write program system import"
    assert executed.cells[-1].outputs[0].text == f"{words}\nn False\n"


def test_a_cell_that_opens_what_is_closed_fails(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "rates.csv").write_text("n")
    with pytest.raises(papermill.PapermillExecutionError, match="is closed to this notebook"):
        execute(
            notebook(tmp_path, "open('results/rates.csv')"), {"number": 3}, closed=(tmp_path / "results",)
        )
