"""Run, seal and reproduce bundled studies (`make audit`), and tell how long each took.

Every bag is reproduced in an empty folder of its own, by one command. The exit status is 0 if all are reproduced.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
STUDIES = (
    "example", "dis-suda-2003", "synthetic-survey", "winkler-basic", "winkler-sample", "winkler-corresponding",
)  # fmt: skip
HEADING = ("study", "run", "seal", "size", "reproduce", "results", "outcome")


def seconds(folder: Path, *command: str | Path) -> float:
    """The seconds that a command takes in a folder; what it says is shown if it fails."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
    )  # fmt: skip
    if ran.returncode:
        sys.stderr.write(ran.stdout)
    return time.monotonic() - began


def audit(study: str, folder: Path) -> tuple[str, ...]:
    """The line of the table about a study."""
    file = CHECKOUT / "config" / "studies" / f"{study}.yaml"
    run = seconds(folder / "run", "snakemake", "--snakefile", CHECKOUT / "Snakefile", "--config", f"study={file}")
    seal = seconds(folder / "run", "reident.command", "seal", file)
    bag = next((folder / "run/reports" / study / "sealed").glob("*.zip"), None)
    if bag is None:
        return study, f"{run:.0f} s", f"{seal:.0f} s", "", "", "", "not sealed"
    (folder / "elsewhere").mkdir()
    moved = shutil.move(bag, folder / "elsewhere")
    again = seconds(folder / "elsewhere", "reident.command", "reproduce", Path(moved).name)
    page = folder / f"elsewhere/reports/reproduce/{study}/reproduction.json"
    facts = json.loads(page.read_text(encoding="utf-8")) if page.is_file() else {"counts": {}, "outcome": "failed"}
    results = ", ".join(f"{number} {kind}" for kind, number in facts["counts"].items())
    size = f"{Path(moved).stat().st_size / 1e6:.1f} MB"
    return study, f"{run:.0f} s", f"{seal:.0f} s", size, f"{again:.0f} s", results, facts["outcome"]


def main(studies: list[str]) -> int:
    """Audit studies, write a table, and return the exit status."""
    lines = []
    for study in studies or STUDIES:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(audit(study, Path(folder)))
            sys.stdout.write(" | ".join(lines[-1]) + "\n")
            sys.stdout.flush()
    widths = [max(map(len, column)) for column in zip(HEADING, *lines, strict=True)]
    for line in (HEADING, *lines):
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n")
    return 0 if all(line[-1] == "reproduced" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
