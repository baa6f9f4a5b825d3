"""A Slurm cluster on this machine: a controller and several nodes, each a daemon with a port of its own.

Everything is in one folder: the configuration, the key of munge and its socket, the state, the logs. The daemons listen
on loopback, under the user who starts them; no service manager and no file of the system takes part. Commands find the
cluster by :attr:`Cluster.environment`.
"""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
SYSTEM = os.pathsep.join(("/usr/sbin", "/usr/local/sbin", "/sbin"))
"""Where distributions put daemons, often not in the PATH of users."""
MARK = "REIDENT_CLUSTER_NODE"
"""In the environment of a node's daemon and of what it starts: the folder of the cluster and the node."""

CONFIGURATION = """\
ClusterName=reident
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
MinJobAge=3600
NodeName=node[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port={first}-{last} CPUs=2 RealMemory={memory}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP LLN=YES
PartitionName=long Nodes=node{nodes} Default=NO MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The programs of Slurm and munge that are not installed."""
    return [name for name in PROGRAMS if program(name) is None]


def program(name: str) -> str | None:
    """The path of a program, in the folders of daemons too."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), SYSTEM)))


class Cluster:
    """A Slurm cluster of `nodes` nodes with two processors and `memory` MB each, while the context lasts.

    All nodes are in the partition `main`, the default; the last one is in `long` as well.
    """

    def __init__(self, folder: Path, nodes: int = 4, memory: int = 6000) -> None:
        self.folder, self.nodes, self._memory = folder, [f"node{at + 1}" for at in range(nodes)], memory
        self._started: list[subprocess.Popen] = []

    @property
    def environment(self) -> dict[str, str]:
        """What the commands of Slurm need to find this cluster."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ.get("PATH", os.defpath)])
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def __enter__(self) -> Self:
        for name in ("bin", "munge", "state", *self.nodes):
            (self.folder / name).mkdir()
        # The executor of Snakemake takes this variable away from what it starts in a job.
        srun = self.folder / "bin" / "srun"
        srun.write_text(
            f'#!/bin/sh\nSLURM_CONF="{self.folder}/slurm.conf" exec {program("srun")} "$@"\n', encoding="utf-8"
        )
        srun.chmod(0o700)
        # Daemons and commands of the user alone: the folders above are closed to others.
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        ports = free_ports(len(self.nodes) + 1)
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                user=getpass.getuser(),
                folder=self.folder,
                nodes=len(self.nodes),
                memory=self._memory,
                port=ports[0],
                first=ports[1],
                last=ports[-1],
            ),
            encoding="utf-8",
        )
        munge = {name: self.folder / "munge" / name for name in ("socket", "pid", "log", "seed")}
        files = [f"--{name}-file={path}" for name, path in munge.items() if name != "socket"]
        try:
            self._start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge['socket']}", *files)
            wait(munge["socket"].exists, "munged")
            self._start("slurmctld", "-D")
            for node in self.nodes:
                self.start(node)
            wait(lambda: set(self.states().values()) == {"idle"}, "the nodes of Slurm")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _start(self, name: str, *arguments: str, mark: str = "") -> None:
        path = program(name)
        assert path is not None, name
        with (self.folder / f"{mark or name}.out").open("ab") as out:
            self._started.append(
                subprocess.Popen(
                    [path, *arguments],
                    env={**os.environ, **self.environment, MARK: f"{self.folder}/{mark}"},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )

    def start(self, node: str) -> None:
        """Start the daemon of a node."""
        self._start("slurmd", "-D", "-N", node, mark=node)

    def kill(self, node: str) -> None:
        """End a node as a loss of power would: its daemon and all of its jobs, at once and without a word."""
        assert node in self.nodes, node
        self._kill(
            {MARK: f"{self.folder}/{node}"}, {"SLURM_CONF": str(self.folder / "slurm.conf"), "SLURMD_NODENAME": node}
        )

    def ask(self, *command: str) -> str:
        """What a command of Slurm answers."""
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    def states(self) -> dict[str, str]:
        """The state of each node that the controller knows; empty while it does not answer."""
        try:
            lines = self.ask("sinfo", "--noheader", "--Node", "--partition=main", "--format=%N %T").splitlines()
        except subprocess.CalledProcessError:
            return {}
        return dict(line.split() for line in lines)

    def jobs(self) -> list[dict[str, str]]:
        """The fields of all jobs since the cluster started, as `scontrol show job` names them."""
        lines = self.ask("scontrol", "--oneliner", "show", "job").splitlines()
        return [dict(field.partition("=")[::2] for field in line.split(" ") if "=" in field) for line in lines]

    def _end(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError, OSError):
            self.ask("scancel", "--user", getpass.getuser())
        for node in self.nodes:
            self.kill(node)
        for daemon in reversed(self._started):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _kill(self, *marks: Mapping[str, str]) -> None:
        """Kill the processes whose environment has all variables of one of the marks."""
        wanted = [{f"{name}={value}".encode() for name, value in mark.items()} for mark in marks]
        # Again, since a process may have started another while this looked.
        while found := [pid for pid, variables in environments() if any(mark <= variables for mark in wanted)]:
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
            for daemon in self._started:
                daemon.poll()


def environments() -> Iterator[tuple[int, set[bytes]]]:
    """The environment with which each process of this machine began that this user may look into."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                yield int(entry.name), set((entry / "environ").read_bytes().split(b"\0"))


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nothing uses: the second and those after it follow each other."""
    for first in range(17000, 32000, count):
        ports = list(range(first, first + count))
        with contextlib.ExitStack() as taken, contextlib.suppress(OSError):
            for port in ports:
                taken.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return ports
    raise OSError("no free ports")


def wait(done: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait until something is so, or raise TimeoutError."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not there after {seconds} s")
        time.sleep(0.2)
