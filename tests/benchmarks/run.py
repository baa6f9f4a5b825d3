"""Time our kernels and general tools on the same files, as whole processes: ``make benchmarks``.

Each program runs several times in turn with the others; quoted are medians of wall time with start-up,
and the peak memory of the process. What takes minutes is run less often, once at least. A program that
runs out of time or memory at one size is not tried at larger ones; nor is a peer at a size for which it
would run out of time if its time grew in proportion to the records: that of pairs grows faster. A peer that
tells how much of its work is done is stopped, as out of time, once a minute or more of it shows that it would
need a quarter more than the time it has. Makes ``results/benchmarks/benchmarks.{csv,md,svg}``; says whether all
answers agree.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import draw
import matplotlib as mpl
import numpy as np
import pandas as pd
from work import WORKS, Work

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
OUT = CHECKOUT / "results" / "benchmarks"
OURS = "reident"
PEERS = {
    "taxicab": [
        "pandas merge", "recordlinkage", "splink, all pairs", "splink, blocked", "scipy in blocks", "polars in blocks",
        "DuckDB in blocks", "FAISS",
    ],
    "euclidean-rms": ["numpy in blocks", "polars in blocks", "FAISS, then numpy"],
    "euclidean-primer": ["numpy in blocks", "polars in blocks"],
    "adhoc": ["numpy in blocks"],
    "adhoc-functions": [],
    "unicity": ["polars group-by", "DuckDB group-by"],
    "suda": ["polars group-by"],
}  # fmt: skip
"""Of a metric, or of one of its works: FAISS excludes no pair of the norm `primer` by categories alone."""

ALL_RELEASED = {"half_gap", "closest-all"}
"""Works with micro-aggregated files of which every record is released, not one in a hundred."""

SETTLED, SURELY = 60, 1.25
"""Seconds after which what a peer has done so far says how long it will take, and how much longer than its time that
must be for it to be stopped."""

PARTIAL = {"splink, blocked"}
"""Peers that do not look at all pairs, whose answers need not agree."""


class Run(NamedTuple):
    """One finished process."""

    seconds: float
    megabytes: float
    answer: dict | None
    ended: str


def timed(command: list[str], limit: float, memory_mb: float) -> Run:
    """Run a command to its end, or until it has used up its time or memory."""
    with tempfile.TemporaryFile() as told:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=told, cwd=HERE)
        ended, peak = "", 0.0
        while process.poll() is None:
            time.sleep(0.01)
            peak = max(peak, resident(process.pid))
            seconds = time.perf_counter() - start
            if seconds > limit or (seconds > SETTLED and seconds > SURELY * limit * done(told.fileno())):
                ended = "out of time"
            elif peak > memory_mb:
                ended = "out of memory"
            if ended:
                process.kill()
                process.wait()
        seconds = time.perf_counter() - start
    last = process.stdout.read().decode().strip().splitlines()[-1:]
    if ended or process.returncode:
        return Run(seconds, peak, None, ended or "failed")
    return Run(seconds, peak, json.loads(last[0]), "")


def done(told: int) -> float:
    """Return how much of its work a process last said to have done; all of it where it says nothing."""
    size = os.fstat(told).st_size
    said = os.pread(told, 4096, max(size - 4096, 0)).decode(errors="replace").split()
    try:
        return float(said[-1])
    except (IndexError, ValueError):
        return 1.0


def resident(pid: int) -> float:
    """The largest resident set of a process so far, in MB; 0 where it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def measure(name: str, work: Work, sizes: list[int], options: argparse.Namespace) -> list[dict]:
    """All programs on all sizes of one work."""
    lines, given_up = [], set()
    peers = PEERS.get(name, PEERS.get(work.metric, [])) if options.peers.exists() else []
    for n in sizes:
        if work.metric == "winkler":
            released = n if work.norm in ALL_RELEASED else max(1, n // 100)
            file = draw.masked(n, work.numeric, released, OUT / "files")
        else:
            file = draw.files(n, work.categorical, work.numeric, OUT / "files")
        commands = {OURS: [sys.executable, "ours.py", name, str(file), str(options.threads)]}
        commands |= {peer: [str(options.peers), "peers.py", peer, name, str(file)] for peer in peers}
        commands = {program: command for program, command in commands.items() if program not in given_up}
        if n == sizes[0]:
            timed(commands[OURS], math.inf, options.memory)  # compiles once; not counted
        runs: dict[str, list[Run]] = {program: [] for program in commands}
        for _ in range(options.runs):
            for program, command in commands.items():
                if program not in given_up and sum(run.seconds for run in runs[program]) < options.enough:
                    limit = math.inf if program == OURS else options.limit
                    runs[program].append(timed(command, limit, options.memory))
                    if runs[program][-1].ended:
                        given_up.add(program)
        for program, done in runs.items():
            lines.append(line(name, n, program, done))
            print(json.dumps(lines[-1]), flush=True)
        given_up |= {
            row["program"]
            for row in lines
            if row["n"] == n and row["program"] != OURS and row["seconds"] is not None
            and row["seconds"] * larger(n, sizes) > options.limit
        }  # fmt: skip
    return lines


def larger(n: int, sizes: list[int]) -> float:
    """Return how many times as large the next size is; 0 after the last."""
    return min((size for size in sizes if size > n), default=0) / n


def line(name: str, n: int, program: str, done: list[Run]) -> dict:
    """The medians of one program at one size."""
    ended = next((run.ended for run in done if run.ended), "")
    answers = {run.answer["digest"] for run in done if run.answer}
    return {
        "work": name,
        "n": n,
        "program": program,
        "runs": len(done),
        "seconds": None if ended else round(statistics.median(run.seconds for run in done), 2),
        "fastest": None if ended else round(min(run.seconds for run in done), 2),
        "slowest": None if ended else round(max(run.seconds for run in done), 2),
        "peak_mb": round(max(run.megabytes for run in done)),
        "pairs": None if ended else done[0].answer["pairs"],
        "digest": answers.pop() if len(answers) == 1 and not ended else None,
        "ended": ended,
    }


def disagreements(table: pd.DataFrame) -> list[str]:
    """Where finished programs that compare all pairs do not give the same answer."""
    whole = table[(table["ended"] == "") & ~table["program"].isin(PARTIAL)]
    found = whole.groupby(["work", "n"])["digest"].agg(lambda digests: digests.nunique(dropna=False))
    return [f"{work} at {n:,}" for (work, n), answers in found.items() if answers != 1]


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """The exponent of growth of time in n between the two largest sizes that finished, from 10,000 on.

    Below, the second that a program takes to start hides how it grows.
    """
    found = []
    for (work, program), own in table[(table["ended"] == "") & (table["n"] >= 10_000)].groupby(["work", "program"]):
        last = own.sort_values("n").tail(2)
        if len(last) == 2:
            slope = np.diff(np.log(last["seconds"].astype(float)))[0] / np.diff(np.log(last["n"]))[0]
            found.append({"work": work, "program": program, "exponent": round(float(slope), 2)})
    return pd.DataFrame(found, columns=["work", "program", "exponent"])


def markdown(table: pd.DataFrame, grown: pd.DataFrame) -> str:
    """The table of a work for each size: seconds, and peak memory in brackets."""
    parts = [f"{machine()}, {os.cpu_count()} processors. Seconds of wall time (peak memory in GB), medians.\n"]
    for work, own in table.groupby("work", sort=False):
        sizes = sorted(own["n"].unique())
        parts.append(f"\n**{work}**\n\n| program | " + " | ".join(f"{n:,}" for n in sizes) + " | exponent |")
        parts.append("|---" * (len(sizes) + 2) + "|")
        for program in own["program"].unique():
            cells = [_cell(own[(own["program"] == program) & (own["n"] == n)]) for n in sizes]
            slope = grown[(grown["work"] == work) & (grown["program"] == program)]["exponent"]
            parts.append(f"| {program} | " + " | ".join(cells) + f" | {slope.iloc[0] if len(slope) else '–'} |")
    return "\n".join(parts) + "\n"


def _cell(found: pd.DataFrame) -> str:
    if found.empty:
        return "–"
    row = found.iloc[0]
    return row["ended"] or f"{row['seconds']:.1f} ({row['peak_mb'] / 1000:.1f})"


def machine() -> str:
    """The processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((text.split(": ")[1] for text in lines if text.startswith("model name")), platform.processor())


def figure(table: pd.DataFrame) -> None:
    """Time over size, a panel for each work; ours bold. A line ends where a program ran out of time or memory."""
    mpl.use("svg")
    from matplotlib import pyplot as plt

    works = list(table["work"].unique())
    columns = min(len(works), 4)
    rows = -(-len(works) // columns)
    _, axes = plt.subplots(
        rows, columns, figsize=(3 * columns, 3 * rows), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(works) :]:
        ax.remove()
    for ax, work in zip(axes.flat, works, strict=False):
        for program, own in table[(table["work"] == work) & (table["ended"] == "")].groupby("program", sort=False):
            ours = program == OURS
            ax.loglog(
                own["n"], own["seconds"].astype(float), "o-", lw=2.5 if ours else 1, ms=5 if ours else 3,
                color="#1f4e79" if ours else None, label=program,
            )  # fmt: skip
        ax.set_title(work, fontsize=10)
        ax.tick_params(labelbottom=True)
        ax.legend(fontsize=7, frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].figure.supxlabel("records in each file", fontsize=9)
    axes[0, 0].figure.supylabel("seconds, whole process", fontsize=9)
    plt.savefig(OUT / "benchmarks.svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))


def main() -> None:
    """Measure, write, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--enough", type=float, default=150, help="seconds after which a program is not run again at a size"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run of a peer")
    parser.add_argument("--memory", type=float, default=12_000, help="MB for one run")
    parser.add_argument("--peers", type=Path, default=CHECKOUT / ".venv-peers" / "bin" / "python")
    options = parser.parse_args()
    sizes = [int(n) for n in options.sizes.split(",")]
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [row for name in options.works.split(",") for row in measure(name, WORKS[name], sizes, options)]
    table = pd.DataFrame(lines)
    table.to_csv(OUT / "benchmarks.csv", index=False)
    (OUT / "benchmarks.md").write_text(markdown(table, exponents(table)), encoding="utf-8")
    figure(table)
    print((OUT / "benchmarks.md").read_text(encoding="utf-8"))
    if failed := table.loc[(table["program"] == OURS) & (table["ended"] != ""), "work"].tolist():
        sys.exit(f"Not finished: {', '.join(failed)}.")
    if differing := disagreements(table):
        sys.exit(f"Answers differ: {', '.join(differing)}.")


if __name__ == "__main__":
    main()
