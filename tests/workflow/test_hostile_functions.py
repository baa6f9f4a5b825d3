"""Scoring functions that say what they are given, in every way that Python and the system know: nothing of it is on the
terminal or in a log, each step ends, and what fails has one sentence."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from workflow.commands import PRELOADED, THREE_FILES, Ended, snakemake

pytestmark = pytest.mark.slow

STUDY = (
    THREE_FILES
    + """\
linking_variables:
  - {{name: age, type: numeric}}
metrics:
  adhoc: {{scores: {{age: {{function: "own:score", sha256: {sha256}}}}}}}
"""
)
FILES = {
    "puf.csv": "pufid,age\nKEY-P1,7041.625\nKEY-P2,7052.875\nKEY-P3,7063.375\n",
    "eif.csv": "eifid,age\nKEY-E1,7041.625\nKEY-E2,7050.125\nKEY-E3,7063.375\n",
    "iuf.csv": "pufid,eifid\nKEY-P1,KEY-E1\nKEY-P3,KEY-E3\n",
}
SECRETS = re.compile(r"KEY-|70[4-7]\d\D\d|70416")
FUNCTION = """\
import atexit, builtins, ctypes, faulthandler, gc, logging, os, signal, subprocess, sys, threading, time, warnings

class Said:
    def __init__(self, text): self.text = text
    def __del__(self): raise ValueError(self.text)

def again(call, *arguments):
    for _ in range(200):
        call(*arguments)
        time.sleep(0.01)

def fail(text): raise ValueError(text)

def score(puf, eif):
    said = str(puf.ravel()) + str(eif.ravel())
{body}
    return 5.0 * (puf == eif)
"""

ENDS, FAILS, DIES = "ends well", "the scoring function of `age` failed", "gave no reason|was ended by"
KINDS = {
    "prints": ("print(said, flush=True); print(said, file=sys.stderr)", ENDS),
    "base exception": ("class Stop(BaseException): pass\nraise Stop(said)", FAILS),
    "thread that lasts": ("threading.Thread(target=again, args=(os.write, 2, said.encode())).start()", ENDS),
    "streams of the interpreter": ("sys.__stdout__.write(said); sys.__stderr__.write(said)", ENDS),
    "descriptors": ("os.write(1, said.encode()); os.write(2, said.encode())", ENDS),
    "descriptors that it copies": ("os.write(os.dup(2), said.encode()); os.fdopen(os.dup(1), 'w').write(said)", ENDS),
    "descriptors by their files": ("open('/proc/self/fd/2', 'w').write(said)", ENDS),
    "the C library": ("c = ctypes.CDLL(None); c.puts(said.encode()); c.perror(said.encode())", ENDS),
    "a process of its own": ("subprocess.run(['echo', said]); subprocess.run('echo $0 >&2', shell=True)", ENDS),
    "a process that lasts": ("subprocess.Popen(['sh', '-c', 'sleep 1; echo $0 >&2', said])", ENDS),
    "a fork": ("if not os.fork(): print(said, flush=True); os._exit(0)", ENDS),
    "thread that never ends": ("threading.Thread(target=time.sleep, args=(10**6,)).start()", ENDS),
    "thread that fails": ("threading.Thread(target=fail, args=(said,)).start()", ENDS),
    "hook of threads": ("threading.excepthook = print; threading.Thread(target=fail, args=(said,)).start()", ENDS),
    "end of the process": ("atexit.register(print, said); atexit.register(os.write, 2, said.encode())", ENDS),
    "warnings": ("warnings.simplefilter('always'); warnings.warn(said)", ENDS),
    "logging": ("logging.basicConfig(level=0); logging.critical(said)", ENDS),
    "unraisable": ("Said(said); gc.collect()", ENDS),
    "hook of unraisable errors": ("sys.unraisablehook = lambda about: print(about); Said(said)", ENDS),
    "hook of errors": ("sys.excepthook = lambda *about: print(*about)\nraise ValueError(said)", FAILS),
    "exit with a text": ("raise SystemExit(said)", FAILS),
    "interrupt with a text": ("raise KeyboardInterrupt(said)", FAILS),
    "end of a generator": ("raise GeneratorExit(said)", FAILS),
    "name of a type": ("raise type('V' + str(puf.ravel()[0]).replace('.', '_'), (Exception,), {})", FAILS),
    "notes": ("error = ValueError(said); error.add_note(said)\nraise error", FAILS),
    "causes": ("try: fail(said)\nexcept ValueError as error: raise KeyError(said) from error", FAILS),
    "groups": ("raise ExceptionGroup(said, [ValueError(said)])", FAILS),
    "text that fails": ("class Odd(Exception): __str__ = lambda self: fail(said)\nraise Odd", FAILS),
    "name of a file": ("exec(compile('fail(1)', '<study> ' + said, 'exec'), {'fail': fail})", FAILS),
    "line of a file": ("exec(compile('\\n' * int(puf[0, 0]) + '1 / 0', '<study> own.py', 'exec'))", FAILS),
    "recursion": ("def deeper(text): deeper(text + said)\ndeeper(said)", FAILS),
    "memory": ("raise MemoryError(said)", FAILS),
    "fault": ("faulthandler.enable(); os.kill(os.getpid(), signal.SIGSEGV)", DIES),
    "dump of all threads": ("faulthandler.dump_traceback_later(0.01, repeat=True)", ENDS),
    "exit at once": ("os.write(2, said.encode()); os._exit(3)", DIES),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", DIES),
}  # fmt: skip
QUICK = ("prints", "base exception", "thread that lasts")
"""The kinds of a run in seconds; all are `long`."""


class Runs(NamedTuple):
    """What a run on some kinds showed, its folder, and the ids of its studies by kind."""

    ended: Ended
    folder: Path
    ids: dict[str, str]


def run(folder: Path, kinds: tuple[str, ...]) -> Runs:
    """Run the scoring of a study for each kind, in one run."""
    ids = {kind: kind.replace(" ", "-").lower() for kind in kinds}
    for kind, name in ids.items():
        (folder / name).mkdir(parents=True)
        body = "".join(f"    {line}\n" for line in KINDS[kind][0].splitlines())
        function = FUNCTION.format(body=body.rstrip())
        texts = {**FILES, "own.py": function}
        texts["study.yaml"] = STUDY.format(id=name, sha256=hashlib.sha256(function.encode()).hexdigest())
        for file, text in texts.items():
            (folder / name / file).write_text(text, encoding="utf-8")
    targets = [f"results/{name}/scores/adhoc/1-of-1.parquet" for name in ids.values()]
    studies = [folder / name / "study.yaml" for name in ids.values()]
    return Runs(snakemake(*targets, studies=studies, folder=folder / "run", program=PRELOADED), folder / "run", ids)


def assert_nothing_is_told(runs: Runs) -> None:
    assert not SECRETS.search(runs.ended.shown), runs.ended.shown
    assert "Traceback" not in runs.ended.shown
    logs = [*runs.folder.glob("results/*/logs/*"), *runs.folder.glob(".snakemake/log/*")]
    assert len(logs) > len(runs.ids)
    for log in logs:
        text = log.read_text(encoding="utf-8")
        assert not SECRETS.search(text), log
        assert "Traceback" not in text, log
    for kind, name in runs.ids.items():
        says = KINDS[kind][1]
        made = (runs.folder / f"results/{name}/scores/adhoc/1-of-1.parquet").exists()
        assert made == (says == ENDS), kind
        if says == FAILS:
            log = (runs.folder / f"results/{name}/logs/score.adhoc.1-of-1.log").read_text(encoding="utf-8")
            assert re.fullmatch(rf"Error: own\.py, line \d\d: {says} \(\w+\)\. It must .*\n", log), (kind, log)
        elif says == DIES:
            assert re.search(rf"Error: {name}: Comparing records: Adhoc (.* and )?({says})", runs.ended.shown), kind


def test_a_scoring_function_shows_nothing_by_any_of_the_usual_ways(tmp_path):
    assert_nothing_is_told(run(tmp_path, QUICK))


@pytest.mark.long
def test_a_scoring_function_shows_nothing_by_any_way(tmp_path):
    assert_nothing_is_told(run(tmp_path, tuple(KINDS)))
