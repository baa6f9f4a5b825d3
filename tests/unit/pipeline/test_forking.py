"""The fork server: what a script finds in a copy of it, how its end is told, and when there is no copy."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from reident.linkage.metrics import REGISTRY
from reident.pipeline import digests, forking, scheduler
from reident.pipeline.steps import STEPS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are fork servers on Linux only")
LIBRARY = Path(forking.__file__).parents[2]
PATIENCE = 60


@pytest.fixture
def environment():
    return {**os.environ, "PYTHONPATH": str(LIBRARY), "KEPT": "as it was"}


@pytest.fixture
def serve(monkeypatch):
    """Starts a server that has imported modules before anything else, and ends it."""
    with contextlib.ExitStack() as servers:

        def start(environment, *modules, later=()):
            monkeypatch.setattr(forking, "ALWAYS", ("json", *modules))
            server = forking.ForkServer(later, environment)
            servers.callback(server.close)
            return server

        yield start


@pytest.fixture
def server(serve, environment):
    return serve(environment, "reident.errors")


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write


def is_alive(process):
    try:
        return (
            Path("/proc", str(process), "stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
            != "Z"
        )
    except OSError:
        return False


def gone(process):
    until = time.monotonic() + PATIENCE
    while is_alive(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_alive(process)


def test_a_script_runs_as_a_main_module_with_what_is_imported_and_its_own_variables(
    server, script, environment, tmp_path
):
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # as in the background of a shell
    path = script(
        f"""
        import os, signal, sys, tempfile
        assert __name__ == "__main__" and sys.argv == [__file__]
        assert "reident.errors" in sys.modules
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL
        assert (signal.getsignal(signal.SIGINT) == signal.SIG_IGN) is {ignored}
        with open({str(tmp_path / "made")!r}, "w") as made:
            print(os.getpid(), os.environ["KEPT"], os.environ["OF_ITS_OWN"], tempfile.gettempdir(), file=made)
        """
    )
    forked = server.start(path, {**environment, "OF_ITS_OWN": "7", "TMPDIR": str(tmp_path)})
    assert not (tmp_path / "made").exists(), "it waits until somebody waits for it"
    assert forked.wait() == 0
    assert (tmp_path / "made").read_text().split() == [str(forked.pid), "as", "it", "was", "7", str(tmp_path)]


def test_nothing_of_one_script_reaches_the_next(server, script, environment, tmp_path):
    path = script(
        f"""
        import json, os
        assert not hasattr(json, "left") and "LEFT" not in os.environ
        json.left, os.environ["LEFT"] = 1, "1"
        open({str(tmp_path)!r} + f"/{{os.getpid()}}", "w").close()
        """
    )
    forked = [server.start(path, environment) for _ in range(3)]
    assert [each.wait() for each in forked] == [0, 0, 0]
    assert {file.name for file in tmp_path.iterdir()} == {"script.py", *(str(each.pid) for each in forked)}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import sys; sys.exit(3)", 3),
        ("raise ValueError", 1),
        ("import sys; sys.exit('words')", 1),
        ("import sys; sys.exit(-1)", 255),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import os; os._exit(5)", 5),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("import atexit, os; atexit.register(os._exit, 6)", 6),
    ],
)
def test_the_exit_status_is_that_of_a_process_of_its_own(server, script, environment, text, status):
    path = script(text)
    alone = subprocess.run([sys.executable, path], env=environment, capture_output=True, check=False)
    assert server.start(path, environment).wait() == alone.returncode == status


def test_what_steps_need_is_imported_in_its_order_while_nobody_asks_for_a_copy(
    serve, script, environment, tmp_path
):
    made = tmp_path / "made"
    path = script(
        f"""
        import sys
        names = ["reident.errors", "reident.starter", "calendar", "colorsys"]
        open({str(made)!r}, "w").write(" ".join(name for name in names if name in sys.modules))
        """
    )
    later = ["colorsys", "reident.no_such_module", "calendar:monthrange", "calendar", "reident.errors"]
    server = serve(environment, later=later)
    until = time.monotonic() + PATIENCE
    found = ""
    while "reident.errors" not in found and time.monotonic() < until:
        assert server.start(path, environment).wait() == 0
        before, found = found, made.read_text(encoding="utf-8")
        assert set(before.split()) <= set(found.split())
        assert "calendar" not in found.split() or "colorsys" in found.split()
    assert found == "reident.errors reident.starter calendar colorsys"


def test_an_answer_that_the_server_keeps_is_there_in_every_copy(serve, script, environment, tmp_path):
    asked = (
        "import reident.pipeline.digests as digests; print(digests.versions.cache_info().currsize, file=out)"
    )
    path = script(f"out = open({str(tmp_path / 'made')!r}, 'w'); {asked}; out.close()")
    assert serve(environment, "reident.pipeline.digests:versions").start(path, environment).wait() == 0
    assert (tmp_path / "made").read_text() == "1\n"


def test_a_script_that_ends_waits_for_its_threads_and_flushes(server, script, environment, tmp_path):
    made = tmp_path / "made"
    path = script(
        f"""
        import atexit, sys, threading, time
        sys.stdout = open({str(made)!r}, "w")
        atexit.register(print, "handler")
        threading.Thread(target=lambda: (time.sleep(0.3), print("thread"))).start()
        print("script")
        """
    )
    assert server.start(path, environment).wait() == 0
    assert made.read_text().split() == ["script", "thread", "handler"]


def test_a_killed_script_and_a_killed_server_are_told(server, script, environment):
    path = script("import time; time.sleep(600)")
    first, second = (server.start(path, environment) for _ in range(2))
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    server._process.kill()
    assert second.wait() == -signal.SIGKILL
    assert gone(second.pid)
    assert server.start(path, environment) is None


def test_scripts_end_with_the_process_that_asked_for_them(script, environment, tmp_path):
    path = script(f"open({str(tmp_path / 'began')!r}, 'w').close(); import time; time.sleep(600)")
    asks = f"""
        import os, time
        from reident.pipeline import forking
        forking.ALWAYS = ()
        server = forking.ForkServer([], dict(os.environ))
        forked = server.start({path!r}, dict(os.environ))
        print(server._process.pid, forked.pid, flush=True)
        forked.wait()
    """
    command = [sys.executable, "-c", textwrap.dedent(asks)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run:
        processes = [int(number) for number in run.stdout.readline().split()]
        until = time.monotonic() + PATIENCE
        while not (tmp_path / "began").exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert list(map(is_alive, processes)) == [True, True]
        run.kill()
    assert all(map(gone, processes))


def test_there_is_no_copy_of_modules_whose_source_has_changed(serve, script, environment, tmp_path):
    library = tmp_path / "lib"
    shutil.copytree(LIBRARY / "reident", library / "reident", ignore=shutil.ignore_patterns("__pycache__"))
    path, own = script("pass"), {**environment, "PYTHONPATH": str(library)}
    server = serve(own, "reident.errors")
    source = library / "reident" / "errors.py"
    assert server.start(path, own).wait() == 0
    before = source.stat()
    source.write_text(source.read_text().replace("class InputError", "class InputErro_"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert server.start(path, own) is None


def test_there_is_no_copy_without_a_variable_that_the_server_has(server, script, environment):
    del environment["KEPT"]
    assert server.start(script("pass"), environment) is None


def test_there_is_no_copy_for_an_environment_that_is_too_large_to_send(server, script, environment):
    assert server.start(script("pass"), {**environment, "LONG": "x" * forking._REQUEST}) is None
    assert server.start(script("pass"), environment).wait() == 0, "the server goes on"


def test_a_script_for_which_nobody_waits_can_be_let_go(server, script, environment, tmp_path):
    forked = server.start(script(f"open({str(tmp_path / 'made')!r}, 'w').close()"), environment)
    forked.let_go()
    forked.let_go()
    assert forked.wait() == 0
    assert (tmp_path / "made").exists()


def test_a_script_that_has_not_begun_can_be_dropped(server, script, environment, tmp_path):
    forked = server.start(script(f"open({str(tmp_path / 'made')!r}, 'w').close()"), environment)
    forked.drop()
    assert not is_alive(forked.pid)
    assert not (tmp_path / "made").exists()


def test_a_script_that_has_ended_is_not_dropped(server, script, environment):
    forked = server.start(script("raise SystemExit(3)"), environment)
    assert forked.wait() == 3
    forked.drop()


def test_a_job_whose_benchmark_cannot_start_does_nothing(serve, script, environment, tmp_path, monkeypatch):
    @contextlib.contextmanager
    def unmeasured(pid, record):
        raise RuntimeError("can't start new thread")
        yield

    for name, value in scheduler._environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(scheduler, "benchmarked", unmeasured)
    path = script(f"open({str(tmp_path / 'made')!r}, 'w').close()")
    elsewhere = dict.fromkeys(("conda_env", "container_img", "env_modules", "shadow_dir"))
    server = serve(scheduler._environment(), "reident.errors")
    job = SimpleNamespace(**elsewhere, fork_server=server, resources={}, bench_record=object())
    with pytest.raises(RuntimeError, match="new thread"):
        scheduler._fork(job, py_exec=sys.executable, fname=path)
    again = SimpleNamespace(**{**vars(job), "bench_record": None})
    assert not (tmp_path / "made").exists()
    assert scheduler._fork(again, py_exec=sys.executable, fname=path) == 0
    assert (tmp_path / "made").exists()


def test_a_module_that_cannot_be_imported_is_left_to_the_script(serve, environment, script, capfd):
    server = serve(environment, "reident.no_such_module")
    assert server.start(script("pass"), environment).wait() == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_what_steps_import_starts_no_thread_that_a_fork_would_lack(environment):
    named = {name for rule in STEPS for metric in REGISTRY for name in digests.imports(rule, metric)}
    code = f"""
        from pathlib import Path
        from reident.pipeline import forking
        for name in {[*forking.ALWAYS, *sorted(named)]}:
            forking._import(name)
        print(*(file.read_text().strip() for file in Path("/proc/self/task").glob("*/comm")))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ran = subprocess.run(
        command, env={**environment, **scheduler.ONE_THREAD}, capture_output=True, text=True, check=True
    )
    # The memory of pyarrow is tended by a thread whose library knows of forks.
    assert len([name for name in ran.stdout.split() if name != "jemalloc_bg_thd"]) == 1
