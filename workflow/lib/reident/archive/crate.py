"""The description of a bag as an RO-Crate 1.2 in the Five Safes profile 0.4, as far as that fits (METHODS §10)."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping
from typing import Any

from reident.archive import layout
from reident.study.model import Study
from reident.verdict import terminal
from reident.verdict.limits import ABOVE, RESERVED, WITHIN

Entity = dict[str, Any]

CONTEXT, CRATE = "https://w3id.org/ro/crate/1.2/context", "https://w3id.org/ro/crate/1.2"
PROFILE = "https://w3id.org/5s-crate/0.4"
NO_DATE = "1980-01-01"
"""Stands for the date of a study that gives none: a crate must have one, and the day of sealing is in no bag."""

STATUS = "http://schema.org/{}ActionStatus"
_VERDICTS = {ABOVE: "Failed", WITHIN: "Completed", RESERVED: "Completed"}
"""The status of the disclosure check by the verdict; without a verdict it is still to be made."""

_DOCUMENTS = {
    layout.OUTPUTS: "The outputs to recreate, with SHA-256, size, rows and the digest of the content of each",
    layout.INPUTS: "The inputs, with path in the study file, SHA-256, size and rows of each",
    layout.RELEASE: "The release that made the results, and the versions of Python and the packages",
    layout.DECISION: "The rule of decision, the outcome of each limit, the verdict and its warnings",
    layout.COST: "What each step took: seconds, memory and disk",
}
_FOLDERS = {
    layout.STUDY: "The study file, the study with every default, each variant, and the code files that it names",
    layout.LEDGER: "The ledger: what every step read and wrote, by SHA-256",
    layout.TABLES: "The tables of results that hold no data",
}


def _at(path: str) -> str:
    return path.removeprefix(layout.PAYLOAD)


def _refer(*names: str) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]


class Crate:
    """The crate of one study.

    Parameters
    ----------
    study : Study
    file : str
        The name of the study file.
    documents : mapping
        The contents of the documents of the payload, by their paths in the bag.
    """

    def __init__(self, study: Study, file: str, documents: Mapping[str, Any]) -> None:
        self.study, self.file = study, file
        self.made: list[Entity] = documents[layout.OUTPUTS]["outputs"]
        self.read: list[Entity] = documents[layout.INPUTS]["inputs"]
        self.release, self.decision = documents[layout.RELEASE], documents[layout.DECISION]

    def describe(self) -> Entity:
        """Return the metadata document of the crate."""
        parts, context, actions = list(self._parts()), list(self._context()), list(self._actions())
        root = {
            "@id": "./",
            "@type": "Dataset",
            "name": self.study.title or self.study.id,
            "description": f"The sealed study {self.study.id}: {'' if self.study.date else 'the study gives no date; '}"
            "what was computed, from what, with which code, and what the rule of decision came to.",
            "identifier": self.study.id,
            "datePublished": str(self.study.date or NO_DATE),
            "license": {"@id": "#conditions"},
            "conformsTo": {"@id": PROFILE},
            "publisher": {"@id": "#agency"},
            "sourceOrganization": {"@id": "#project"},
            "mainEntity": {"@id": _at(layout.CODE)},
            "hasPart": _refer(*(part["@id"] for part in parts)),
            "mentions": _refer(*(action["@id"] for action in actions)),
        }
        descriptor = {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": CRATE},
        }
        return {"@context": CONTEXT, "@graph": [descriptor, root, *parts, *actions, *context]}

    def _parts(self) -> Iterator[Entity]:
        """Yield the files and folders of the payload."""
        for path, name in _DOCUMENTS.items():
            yield _file(_at(path), name)
        for path, name in _FOLDERS.items():
            yield {"@id": _at(path), "@type": "Dataset", "name": name}
        yield _file(f"{_at(layout.STUDY)}{self.file}", "The study file", "application/yaml")
        for line in self.made:
            if line["equal"] == "report" and line["bag"]:
                yield _file(line["bag"], "The report", size=line["size"], sha256=line["sha256"])
        for line in self.read:
            if line["bag"]:
                yield _file(line["bag"], line["path"], size=line["size"], sha256=line["sha256"])
        yield {
            "@id": _at(layout.CODE),
            "@type": "Dataset",
            "name": "reident: the workflow and its library",
            "version": self.release["version"] or "unknown",
            "license": {"@id": "https://spdx.org/licenses/MIT"},
            "hasPart": _refer(f"{_at(layout.CODE)}Snakefile"),
        }
        yield {
            "@id": f"{_at(layout.CODE)}Snakefile",
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": "The workflow",
            "encodingFormat": "text/plain",
            "programmingLanguage": {"@id": "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"},
        }

    def _context(self) -> Iterator[Entity]:
        """Yield what the actions and the root refer to."""
        agency = self.study.agency or "The agency that releases the file"
        yield {"@id": PROFILE, "@type": ["CreativeWork", "Profile"], "name": "Five Safes RO-Crate profile", "version": "0.4"}
        yield {"@id": "#agency", "@type": "Organization", "name": agency}
        yield {
            "@id": "#project",
            "@type": "Project",
            "name": self.study.title or self.study.id,
            "member": {"@id": "#agency"},
        }
        yield {
            "@id": "#conditions",
            "@type": "CreativeWork",
            "name": "Internal to the agency",
            "description": "The counts are exact, neither rounded nor suppressed. Only the agency passes them on.",
        }
        yield {"@id": "https://spdx.org/licenses/MIT", "@type": "CreativeWork", "name": "MIT License"}
        yield {
            "@id": "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "url": {"@id": "https://snakemake.readthedocs.io"},
        }
        yield {
            "@id": "#reident",
            "@type": "SoftwareApplication",
            "name": "reident",
            "softwareVersion": self.release["version"] or "unknown",
            "provider": {"@id": "#agency"},
        }
        yield {
            "@id": "#sha-512",
            "@type": "DefinedTerm",
            "name": "sha-512 algorithm",
            "url": "https://www.iana.org/assignments/named-information",
        }
        yield from self._secrets()

    def _secrets(self) -> Iterator[Entity]:
        """Yield the inputs that are not in the bag, and who may read them."""
        for line in self.read:
            if not line["bag"]:
                yield {
                    "@id": _input(line),
                    "@type": "DigitalDocument",
                    "name": line["path"],
                    "contentSize": str(line["size"]),
                    "sha256": line["sha256"],
                    "hasDigitalDocumentPermission": {"@id": "#permission"},
                }
        yield {
            "@id": "#permission",
            "@type": "DigitalDocumentPermission",
            "permissionType": "http://schema.org/ReadPermission",
            "grantee": {"@id": "#agency"},
        }

    def _actions(self) -> Iterator[Entity]:
        """Yield what was done to the study, and what is still to be done."""
        reports = [line["bag"] for line in self.made if line["equal"] == "report" and line["bag"]]
        yield {
            "@id": "#run",
            "@type": "CreateAction",
            "name": f"Run of the study {self.study.id}",
            "agent": {"@id": "#agency"},
            "instrument": {"@id": _at(layout.CODE)},
            "object": _refer(f"{_at(layout.STUDY)}{self.file}", *map(_input, self.read)),
            "result": _refer(_at(layout.OUTPUTS), _at(layout.TABLES), *reports),
            "actionStatus": STATUS.format("Completed"),
        }
        verdict = self.decision["summary"][0]["verdict"]
        checks = (
            ("CheckValue", "The chain of steps closes and every result is what its step wrote", "Completed", "#sha-512"),
            ("ValidationCheck", "The study, its files and its results are as declared", "Completed", PROFILE),
            ("DisclosureCheck", f"Verdict on the release: {terminal.VERDICTS[verdict]}",
             _VERDICTS.get(verdict, "Potential"), f"{_at(layout.CODE)}Snakefile"),
            ("SignOff", "Sign-off by the board: none when the study was sealed; later ones are beside the manifests",
             "Potential", None),
        )  # fmt: skip
        for kind, name, status, instrument in checks:
            yield {
                "@id": f"#{kind}",
                "@type": "AssessAction",
                "additionalType": {"@id": f"https://w3id.org/shp#{kind}"},
                "name": name,
                "object": {"@id": "./"},
                "agent": {"@id": "#agency" if kind == "SignOff" else "#reident"},
                "actionStatus": STATUS.format(status),
                **({"instrument": {"@id": instrument}} if instrument else {}),
            }


def _input(line: Entity) -> str:
    """Return the identifier of an input: its file in the crate, or its digest."""
    return line["bag"] or f"#sha256-{line['sha256']}"


def _file(path: str, name: str, kind: str | None = None, size: int | None = None, sha256: str = "") -> Entity:
    """Return a file of the crate."""
    guessed = kind or mimetypes.guess_type(path, strict=True)[0] or "application/octet-stream"
    entity = {"@id": path, "@type": "File", "name": name, "encodingFormat": guessed}
    return {**entity, "contentSize": str(size), "sha256": sha256} if sha256 else entity
