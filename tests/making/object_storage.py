"""A server of object storage on this machine, as S3, on loopback and in memory."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from making.slurm import free_ports, wait

ENVIRONMENT = Path(__file__).resolve().parents[2] / ".venv-storage"
"""Where the plugin and the server are (pyproject.toml)."""
PYTHON = ENVIRONMENT / "bin" / "python"

KEYS = {"SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "tests", "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "only for tests"}

CLIENT = """
import sys, boto3
address, command, bucket, key, *local = sys.argv[1:]
client = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
if command == "create":
    client.create_bucket(Bucket=bucket)
elif command == "put":
    client.upload_file(local[0], bucket, key)
elif command == "list":
    print(*(found["Key"] for found in client.list_objects_v2(Bucket=bucket).get("Contents", [])), sep="\\n")
"""


class Server:
    """A server with one bucket, `agency`; `environment` has what Snakemake needs to find it."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"
        self.environment = {**KEYS, "SNAKEMAKE_STORAGE_S3_ENDPOINT_URL": self._address}

    def _ask(self, *arguments: str) -> str:
        keys = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "only for tests"}
        command = [PYTHON, "-c", CLIENT, self._address, *arguments]
        return subprocess.run(command, env={**os.environ, **keys}, stdout=subprocess.PIPE, text=True, check=True).stdout

    def create(self) -> None:
        """Make the bucket."""
        self._ask("create", "agency", "")

    def put(self, key: str, file: Path) -> None:
        """Store a file."""
        self._ask("put", "agency", key, str(file))

    def keys(self) -> set[str]:
        """The names of all objects."""
        return set(self._ask("list", "agency", "").split())


@contextlib.contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Start a server, and end it with the context; its log is in the folder."""
    (port,) = free_ports(1)
    with (folder / "server.log").open("wb") as log:
        command = [PYTHON, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait(lambda: b"Running on" in (folder / "server.log").read_bytes(), "the server of object storage")
        started = Server(port)
        started.create()
        yield started
    finally:
        process.terminate()
        process.wait()
