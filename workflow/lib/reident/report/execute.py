"""Run a notebook so that what comes out depends on the notebook, its parameters and the tables alone.

No clock, no path of this machine and no random name stays in the executed notebook; the kernel
starts with a fixed environment, without the user's own settings. What its process says beside the
output of cells, for example of a message that came while it ended, is nobody's to read and may hold
data: it stands in the details of an error, and is dropped where there is none.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import nbformat
import papermill
from jupyter_client.manager import AsyncKernelManager

import reident

LONGEST_FOLDER = 60
"""Characters of a folder's path in which a socket's name still fits."""


def quiet_kernel(words: IO[bytes]) -> type[AsyncKernelManager]:
    """A kernel without a port that others could reach, whose process writes to a file in place of the terminal."""

    class QuietKernel(AsyncKernelManager):
        def __init__(self, **kw: Any) -> None:
            super().__init__(**kw, transport="ipc")

        async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
            await super()._async_launch_kernel(kernel_cmd, **kw, stdout=words, stderr=words)

    return QuietKernel


def execute(notebook: Path, parameters: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Execute a notebook with parameters.

    Parameters
    ----------
    notebook : pathlib.Path
        A notebook with a cell tagged ``parameters``.
    parameters : mapping
        A ``Path`` is handed over as its last part alone: the kernel works in the folder that holds
        it, so that neither the notebook nor its outputs know where that is.

    Returns
    -------
    nbformat.NotebookNode
        In canonical form. What cells wrote to the error stream goes to this process' own.

    Raises
    ------
    ValueError
        If two paths do not lie in one folder.
    papermill.PapermillExecutionError
        If a cell fails. Its notes have what the kernel's process said.
    """
    paths = {name: value.resolve() for name, value in parameters.items() if isinstance(value, Path)}
    folders = {path.parent for path in paths.values()} or {notebook.resolve().parent}
    if len(folders) > 1:
        raise ValueError("the paths among a notebook's parameters must lie in one folder")
    values = {**parameters, **{name: path.name for name, path in paths.items()}}
    # The file has no name: nothing of it is left when the process is killed.
    with _kernel_environment(), tempfile.TemporaryFile() as words:
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
                kernel_manager_class=quiet_kernel(words),
            )
        except Exception as error:
            words.seek(0)
            error.add_note(words.read().decode(errors="backslashreplace"))
            raise
    return canonical(executed, values)


@contextmanager
def _kernel_environment() -> Iterator[None]:
    """The environment that the kernel inherits: this library, fixed seeds, none of the user's settings."""
    before = dict(os.environ)
    library = str(Path(reident.__file__).parents[1])
    with tempfile.TemporaryDirectory(prefix="reident-", dir=_short_folder()) as own:
        os.environ.update(
            PYTHONPATH=os.pathsep.join(filter(None, [library, before.get("PYTHONPATH")])),
            PYTHONHASHSEED="0",
            SOURCE_DATE_EPOCH="0",
            PYDEVD_DISABLE_FILE_VALIDATION="1",
            JUPYTER_PREFER_ENV_PATH="1",
            **dict.fromkeys(
                ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"), own
            ),
        )
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _short_folder() -> str | None:
    """A folder for sockets where that of temporary files has too long a name."""
    return "/tmp" if len(tempfile.gettempdir()) > LONGEST_FOLDER else None  # noqa: S108 - its own subfolder, mode 0700


def canonical(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> nbformat.NotebookNode:
    """A notebook without what differs from run to run: times, random names, paths, the error stream."""
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
    if output.output_type != "stream" or output.name != "stderr":
        return False
    sys.stderr.write(output.text)
    return True
