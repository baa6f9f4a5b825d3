"""Whether others take a bag for one: the Library of Congress' bagit, ro-crate-py and the RO-Crate validator.

Run by the interpreter of `.venv-conformance`, with the folder of an unpacked bag. Without a network: the validator gets
the terms of RO-Crate from the file that ro-crate-py carries, of version 1.3, which has all terms of 1.2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest.mock import patch

import bagit
import requests
import rocrate
from rocrate.rocrate import ROCrate
from rocrate_validator import services
from rocrate_validator.models import Severity
from rocrate_validator.utils.http import HttpRequester

CONTEXT = "https://w3id.org/ro/crate/1.2/context"


def answer(_: object, url: str, **__: object) -> requests.Response:
    """The terms of RO-Crate, and nothing else."""
    response = requests.Response()
    response.url, response.status_code = url, 504
    if url == CONTEXT:
        response.status_code = 200
        response.headers["Content-Type"] = "application/ld+json"
        response._content = Path(rocrate.__file__).with_name("data").joinpath("ro-crate.jsonld").read_bytes()
    return response


def main(folder: Path) -> dict[str, object]:
    bagit.Bag(str(folder)).validate()
    crate = ROCrate(folder / "data")
    settings = services.ValidationSettings(
        rocrate_uri=str(folder / "data"),
        profile_identifier="ro-crate-1.2",
        requirement_severity=Severity.RECOMMENDED,
        offline=True,
    )
    with patch.object(HttpRequester, "get", answer, create=True):
        result = services.validate(settings)
    return {
        "name": crate.name,
        "entities": len(crate.get_entities()),
        "checks": len(result.executed_checks),
        "issues": sorted(
            [issue.severity.name, issue.check.identifier.removeprefix("ro-crate-1.2_"), issue.message or ""]
            for issue in result.get_issues()
        ),
    }


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1])), sys.stdout)
