"""All that this workflow changes in Snakemake, whose classes it takes as arguments; written for one version.

Each function replaces a method of Snakemake by one that does the same and a little more. Some of the names that they
use are private ones of Snakemake. A newer version must therefore be tried first: see :func:`check_version`.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

from snakemake.benchmark import benchmarked

from reident.errors import InputError
from reident.pipeline.forking import ForkServer

VERSION = "9.27.1"
"""The version of Snakemake for which this file is written; pyproject.toml pins it."""

ONE_THREAD = dict.fromkeys(
    (f"{library}_NUM_THREADS" for library in ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")), "1"
) | {"VECLIB_MAXIMUM_THREADS": "1"}
"""The variables that Snakemake gives to a job of one thread. A step starts its further threads itself."""

_CHECKED = "results_are_checked"
"""The attribute of a workflow whose results hold."""


def check_version(installed: str) -> None:
    """See that Snakemake is installed in the version for which this file is written.

    Raises
    ------
    InputError
    """
    if installed != VERSION:
        raise InputError(
            f"Snakemake must be version {VERSION}, not {installed}: {Path(__file__).name} in "
            "workflow/lib/reident/pipeline changes methods of that version. Install it, or run `make` to set up "
            "the environment again."
        )


class Module:
    """How the workflow is run: by itself, or as a module of another one, which may rename its rules and folders.

    Parameters
    ----------
    workflow
        The workflow, as a Snakefile knows it.
    rules
        The rules of this workflow, as a Snakefile knows them: by the names that its own files give them.

    Raises
    ------
    InputError
        If the importer replaces parts of paths, so that results would not be where the ledger looks for them.
    """

    def __init__(self, workflow: Any, rules: Any) -> None:
        modifier = workflow.modifier
        self.imported = not modifier.is_main_snakefile()
        self.reads_files = not modifier.skip_configfile
        self._workflow, self._rules, self._paths = workflow, rules, modifier.path_modifier
        self._readings = [modifier]
        if self._paths.modifies_prefixes:
            raise InputError("module: `replace_prefix` must not be given for reident. Give `prefix`.")
        # Each `use rule` of one module reads this workflow again: the first reading then speaks for all of them.
        first = vars(workflow).setdefault("reident_modules", {}).setdefault(modifier.namespace, self)
        self.repeated = first is not self
        if self.repeated:
            first._readings.append(modifier)  # noqa: SLF001

    def folder(self, name: str) -> Path:
        """Return a folder of the workflow below the importer's `prefix`."""
        return Path(self._paths.replace_prefix(name))

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of the rules in this workflow's own files, by their names in the run; known once all are read."""
        names = {}
        for reading in self._readings:
            used = {rule.name for rule in reading.rules}
            for name in reading.rule_whitelist or self._rules._rules:  # noqa: SLF001
                if (called := reading.modify_rulename(name)) in used:
                    names[called] = name
        return names

    def is_made(self, path: Path) -> bool:
        """Return whether a rule of the importer makes a file."""
        return any(
            rule.name not in self.names and rule.is_producer(str(path)) for rule in self._workflow.rules
        )

    def own(self, jobs: Iterable[Any]) -> list[Any]:
        """Return the jobs of this workflow's rules."""
        return [job for job in jobs if job.rule.name in self.names]

    def scripts(self, jobs: Iterable[Any]) -> list[tuple[str, str, str | None]]:
        """Return the rule, study and metric of those jobs of this workflow that run a script."""
        wildcards = [(job.rule.name, job.wildcards_dict) for job in jobs if job.is_script]
        return [(self.names[rule], own.get("study", ""), own.get("metric")) for rule, own in wildcards]

    def makers(self, jobs: Iterable[Any], rule: str) -> list[Any]:
        """Return the jobs of one of this workflow's rules."""
        return [job for job in jobs if self.names.get(job.rule.name) == rule]


def keep_waiting_jobs(scheduler: type) -> None:
    """Let a scheduler's failed jobs no longer count as running while they wait for another attempt.

    Where a checkpoint ends, Snakemake forgets which jobs are ready and looks for them anew, but leaves out those that
    count as running; and a failed job counts as running for ever. One that waits at that moment for another attempt is
    lost, and with ``keep-going`` the run then ends as if everything were made (snakemake#823).

    Parameters
    ----------
    scheduler : type
        Snakemake's ``JobScheduler``.
    """
    handle = scheduler._handle_error  # type: ignore[attr-defined]  # noqa: SLF001

    @wraps(handle)
    def handle_error(self: Any, job: Any, *arguments: Any, **named: Any) -> None:
        handle(self, job, *arguments, **named)
        if job not in self.failed:  # those get no other attempt, and must not become ready
            self.workflow.dag._running.discard(job)  # noqa: SLF001

    scheduler._handle_error = handle_error  # type: ignore[attr-defined]  # noqa: SLF001


def end_at_once(scheduler: type) -> None:
    """Let a run end with its last job.

    Snakemake looks again for jobs that may start a second after it has started some, by a timer that would outlive the
    run: the process would wait for it.

    Parameters
    ----------
    scheduler : type
        Snakemake's ``JobScheduler``.
    """

    def look_again(self: Any, delay: int) -> None:
        timer = threading.Timer(delay, self._open_jobs.release)
        timer.daemon = True
        timer.start()

    scheduler._schedule_reevalutation = look_again  # type: ignore[attr-defined]  # noqa: SLF001


def start_scripts(script: type) -> None:
    """Start a script in a copy of the run's fork server, or let its process take the place of the shell that starts it.

    In both cases it ends when Snakemake does. The prefix of all shell commands would do the latter, but for an
    importer's commands too, which may be several.

    Parameters
    ----------
    script : type
        Snakemake's ``PythonScript``.
    """
    execute = script._execute_cmd  # type: ignore[attr-defined]  # noqa: SLF001

    @wraps(execute)
    def execute_cmd(self: Any, command: str, **named: Any) -> Any:
        if not named.get("is_python_script"):
            return execute(self, command, **named)
        if (status := _fork(self, **named)) is None:
            return execute(self, f"exec {command}", **named)
        if status:
            raise subprocess.CalledProcessError(status, f"exec {named['py_exec']} {named['fname']}")
        return None

    if not hasattr(execute, "__wrapped__"):
        script._execute_cmd = execute_cmd  # type: ignore[attr-defined]  # noqa: SLF001


def serve_forks(script: type, modules: Collection[str]) -> None:
    """Give a run a fork server for its scripts.

    Parameters
    ----------
    script : type
        Snakemake's ``PythonScript``.
    modules : collection of str
        What the scripts import, see :meth:`reident.pipeline.plan.Plan.modules`; nothing where they are too few.
    """
    server = None
    if sys.platform == "linux" and modules and Path("/proc/self/exe").samefile(sys.executable):
        server = ForkServer(modules, _environment())
        atexit.register(server.close)
    script.fork_server = server  # type: ignore[attr-defined]


def _environment() -> dict[str, str]:
    """Return the environment of scripts; unless the user sets it, the seed of hashes is 0 in each."""
    return {"PYTHONHASHSEED": "0", **os.environ, **ONE_THREAD}


def _fork(script: Any, *, py_exec: str, fname: str, **_: Any) -> int | None:
    """Run a script in a copy of the fork server and return its exit status; None where it must be started otherwise."""
    server: ForkServer | None = getattr(script, "fork_server", None)
    elsewhere = (script.conda_env, script.container_img, script.env_modules, script.shadow_dir)
    if server is None or any(elsewhere) or py_exec != sys.executable:
        return None
    temporary = dict.fromkeys(("TMPDIR", "TMP", "TEMPDIR", "TEMP"), script.resources.get("tmpdir"))
    given = {name: str(value) for name, value in temporary.items() if value}
    if (forked := server.start(fname, {**_environment(), **given})) is None:
        return None
    if script.bench_record is None:
        return forked.wait()
    try:
        with benchmarked(forked.pid, script.bench_record):
            return forked.wait()
    finally:
        forked.drop()


def force_stale(dag: type, module: Module, stale: Callable[[str], Iterable[Path]]) -> None:
    """Force the jobs whose results no longer hold, whatever triggers the user chose.

    This is what ``--forcerun`` does to the jobs of the graph, but that option would also make every file that it names
    a target of the run. A job that has ended is not forced again where a checkpoint changes the graph: Snakemake
    leaves finished jobs out.

    Parameters
    ----------
    dag : type
        Snakemake's ``DAG``.
    module : Module
    stale : callable
        ``stale(study)`` gives the results of a study that no longer hold. It is asked for studies with jobs in the
        graph alone, so that the target ``check`` and the linter do not pay for it.
    """
    update = dag.update_needrun  # type: ignore[attr-defined]

    @wraps(update)
    async def update_needrun(self: Any, *arguments: Any, **named: Any) -> None:
        if not getattr(self.workflow, _CHECKED, False):
            for study in studies(module.own(self.jobs)):
                self.forcefiles.update(map(str, stale(study)))
        await update(self, *arguments, **named)

    dag.update_needrun = update_needrun  # type: ignore[attr-defined]


def check_before_graph(dag: type, module: Module, check: Callable[[set[str]], None]) -> None:
    """Call a function before the graph of jobs is built: while the workflow is read, its targets are not known.

    Parameters
    ----------
    dag : type
        Snakemake's ``DAG``.
    module : Module
    check : callable
        Takes the names of the rules that are targets, as this workflow names them, and `all` for any rule of an
        importer; none if a target is a file.
    """
    init = dag.init  # type: ignore[attr-defined]

    @wraps(init)
    async def init_checked(self: Any, *arguments: Any, **named: Any) -> None:
        rules = {rule.name for rule in self.targetrules} | self.target_jobs_rules
        check(set() if self.targetfiles else {module.names.get(rule, "all") for rule in rules})
        await init(self, *arguments, **named)

    dag.init = init_checked  # type: ignore[attr-defined]


def add_hooks(dag: type, start: Callable[[], None], end: Callable[[], None]) -> None:
    """Call functions at the start and at the good end of a run that has this workflow as a module.

    Of a module, Snakemake calls neither ``onstart`` nor ``onsuccess``.

    Parameters
    ----------
    dag : type
        Snakemake's ``DAG``.
    start, end : callable
    """
    init = dag.init  # type: ignore[attr-defined]

    @wraps(init)
    async def init_hooked(self: Any, *arguments: Any, **named: Any) -> None:
        # All files are read now, and the importer's own handlers are known. Ours are first at the start, and last.
        workflow = self.workflow
        on_start, on_success = workflow._onstart, workflow._onsuccess  # noqa: SLF001

        def begin(log: Any) -> None:
            start()
            on_start(log)

        def finish(log: Any) -> None:
            on_success(log)
            end()

        workflow._onstart, workflow._onsuccess = begin, finish  # noqa: SLF001
        await init(self, *arguments, **named)

    dag.init = init_hooked  # type: ignore[attr-defined]


def check_before_report(workflow: Any, check: Callable[[], None]) -> None:
    """Call a function before ``--report`` gathers results; no setting of a workflow tells of that option.

    What it checks is not looked for again by :func:`force_stale`.

    Parameters
    ----------
    workflow
        The workflow, as a Snakefile knows it.
    check : callable
    """
    create = workflow.create_report

    @wraps(create)
    def create_report(*arguments: Any, **named: Any) -> None:
        check()
        setattr(workflow, _CHECKED, True)
        create(*arguments, **named)

    workflow.create_report = create_report


def studies(jobs: Iterable[Any]) -> set[str]:
    """Return the ids of the studies to which jobs belong."""
    names = (job.wildcards_dict.get("study") for job in jobs)
    return {name.partition("/")[0] for name in names if name is not None}


def outputs(jobs: Iterable[Any], study: str, stale: Iterable[Path]) -> set[Path]:
    """Return what the jobs that are to run make of a study.

    Which shards there are is known only after the checkpoint. Where it is to run, all results that no longer hold
    count as made.
    """
    jobs = [job for job in jobs if studies([job]) == {study}]
    later = stale if any(job.is_checkpoint for job in jobs) else ()
    return {Path(path) for job in jobs for path in job.output}.union(later)


def pages(job: Any) -> list[str]:
    """Return the pages for readers that a job makes, in HTML and PDF."""
    return [str(path) for path in job.output if str(path).endswith((".html", ".pdf"))]
