"""Execute a notebook so that its outputs depend only on the notebook, its parameters and the tables.

No time, path of this machine or random name stays in the executed notebook. The kernel starts in the folder of its
tables with a fixed environment, without the user's settings. What the kernel writes beside the outputs of cells may
hold data: it is added to the notes of an error and dropped where there is no error.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager

from reident.page import fonts

MAX_FOLDER_LENGTH = 60
"""Characters of a folder's path that leave room for the name of a socket."""

START_TIMEOUT = 600
"""Seconds within which the kernel must answer: on a busy machine it takes more than the minute of nbclient."""


def execute(notebook: Path, parameters: Mapping[str, Any], font: Path | None = None) -> nbformat.NotebookNode:
    """Execute a notebook with parameters, and return it in canonical form.

    Parameters
    ----------
    notebook : pathlib.Path
        A notebook with a cell tagged ``parameters``.
    parameters : mapping
        Of the paths, only the last parts are passed, and the kernel works in the one folder that holds them: neither
        the notebook nor its outputs name that folder.
    font : pathlib.Path or None
        The study's font, with which figures show labels.

    Raises
    ------
    papermill.PapermillExecutionError
        If a cell fails. Its notes hold what the kernel wrote.
    """
    paths = {name: value.resolve() for name, value in parameters.items() if isinstance(value, Path)}
    folders = {path.parent for path in paths.values()} or {notebook.resolve().parent}
    if len(folders) > 1:
        raise ValueError("the paths among the parameters of a notebook must be in the same folder")
    values = {**parameters, **{name: path.name for name, path in paths.items()}}
    # The file has no name: nothing remains of it if the process is killed.
    with _kernel_environment(font) as folder, tempfile.TemporaryFile() as stream:
        try:
            executed = papermill.execute_notebook(
                str(notebook),
                None,
                values,
                cwd=str(folders.pop()),
                kernel_name="python3",
                progress_bar=False,
                record_timing=False,
                coalesce_streams=True,
                shutdown_kernel="immediate",
                start_timeout=START_TIMEOUT,
                kernel_manager_class=_manager(stream, folder),
            )
        except Exception as error:
            stream.seek(0)
            error.add_note(stream.read().decode(errors="backslashreplace"))
            raise
    return canonical(executed, values)


def _manager(stream: IO[bytes], folder: Path) -> type[AsyncKernelManager]:
    class QuietKernel(AsyncKernelManager):
        def __init__(self, **kw: Any) -> None:
            # In a folder of its own: two kernels that start at once in one folder could take the same sockets.
            super().__init__(**kw, transport="ipc", connection_file=str(folder / "kernel.json"))

        def start_kernel(self, **kw: Any) -> Any:
            return super().start_kernel(**kw, stdout=stream, stderr=stream)

    return QuietKernel


@contextmanager
def _kernel_environment(font: Path | None) -> Iterator[Path]:
    """Set the environment that the kernel inherits: fixed seeds, no settings of the user.

    Yields a folder that only the owner can enter, and that ends with it.
    """
    before = dict(os.environ)
    # Where the path of the temporary folder is too long for a socket, its own subfolder of another one, mode 0700.
    place = "/tmp" if len(tempfile.gettempdir()) > MAX_FOLDER_LENGTH else None  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="reident-", dir=place) as settings:
        os.environ.update(
            PYTHONHASHSEED="0",
            SOURCE_DATE_EPOCH="0",
            PYDEVD_DISABLE_FILE_VALIDATION="1",
            JUPYTER_PREFER_ENV_PATH="1",
            **{fonts.VARIABLE: str(font.resolve()) if font else ""},
            **dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"), settings),
        )
        try:
            yield Path(settings)
        finally:
            os.environ.clear()
            os.environ.update(before)


def canonical(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Return a notebook without times, random names, paths and the error stream, which differ between runs."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "parameters": dict(parameters),
        }
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_error_stream(output)]
    return notebook


def _is_error_stream(output: nbformat.NotebookNode) -> bool:
    return bool(output.output_type == "stream" and output.name == "stderr")
