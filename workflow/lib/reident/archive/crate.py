"""The description of a bag as an RO-Crate 1.2 in the Five Safes profile 0.4, as far as that fits (METHODS §10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reident.archive import layout
from reident.study.model import Study
from reident.verdict import terminal
from reident.verdict.limits import ABOVE, RESERVED, WITHIN

Entity = dict[str, Any]

CONTEXT, CRATE = "https://w3id.org/ro/crate/1.2/context", "https://w3id.org/ro/crate/1.2"
PROFILE = "https://w3id.org/5s-crate/0.4"
MIT = "https://spdx.org/licenses/MIT"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
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


_KINDS = {"json": "application/json", "html": "text/html", "pdf": "application/pdf", "csv": "text/csv"}


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
    sizes : mapping
        The sizes of these documents, and of the study file and the Snakefile by their folders.
    """

    def __init__(
        self, study: Study, file: str, documents: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> None:
        self.study, self.file, self.sizes = study, file, sizes
        self.made: list[Entity] = documents[layout.OUTPUTS]["outputs"]
        self.read: list[Entity] = documents[layout.INPUTS]["inputs"]
        self.release, self.decision = documents[layout.RELEASE], documents[layout.DECISION]
        self.version: str = self.release["version"] or "unknown"

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
            "name": "The description of this crate",
            "about": {"@id": "./"},
            "conformsTo": {"@id": CRATE},
        }
        return {"@context": CONTEXT, "@graph": [descriptor, root, *parts, *actions, *context]}

    def _parts(self) -> Iterator[Entity]:
        """Yield the files and folders of the payload."""
        for path, meaning in _DOCUMENTS.items():
            yield _file(_at(path), meaning, self.sizes[path])
        for path, meaning in _FOLDERS.items():
            yield {"@id": _at(path), "@type": "Dataset", "name": _at(path), "description": meaning}
        yield _file(
            f"{_at(layout.STUDY)}{self.file}", "The study file", self.sizes[layout.STUDY], "application/yaml"
        )
        for line in (*self.made, *self.read):
            if line["bag"] and line.get("equal", "report") == "report":
                meaning = (
                    "The report" if "equal" in line else f"A source file, in the study file {line['path']}"
                )
                yield {**_file(line["bag"], meaning, line["size"]), "sha256": line["sha256"]}
        yield {
            "@id": _at(layout.CODE),
            "@type": "Dataset",
            "name": "reident",
            "description": "The workflow and its library, as in a checkout",
            "version": self.version,
            "license": {"@id": MIT},
            "hasPart": {"@id": f"{_at(layout.CODE)}Snakefile"},
        }
        yield {
            **_file(f"{_at(layout.CODE)}Snakefile", "The workflow", self.sizes[layout.CODE], "text/plain"),
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "license": {"@id": MIT},
            "programmingLanguage": {"@id": SNAKEMAKE},
        }

    def _context(self) -> Iterator[Entity]:
        """Yield what the actions and the root refer to."""
        agency = self.study.agency or "The agency that releases the file"
        yield {
            "@id": PROFILE,
            "@type": ["CreativeWork", "Profile"],
            "name": "Five Safes RO-Crate profile",
            "version": "0.4",
        }
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
        yield {"@id": MIT, "@type": "CreativeWork", "name": "MIT License", "description": "Of the code alone"}
        yield {
            "@id": SNAKEMAKE,
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "url": "https://snakemake.readthedocs.io",
            "version": self.release["versions"].get("snakemake", "unknown"),
        }
        yield {
            "@id": "#reident",
            "@type": "SoftwareApplication",
            "name": "reident",
            "version": self.version,
            "url": {"@id": _at(layout.CODE)},
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
        secrets = [line for line in self.read if not line["bag"]]
        for line in secrets:
            yield {
                "@id": _input(line),
                "@type": "DigitalDocument",
                "name": line["path"],
                "contentSize": str(line["size"]),
                "sha256": line["sha256"],
                "hasDigitalDocumentPermission": {"@id": "#permission"},
            }
        if secrets:
            yield {
                "@id": "#permission",
                "@type": "DigitalDocumentPermission",
                "name": "Who may read the inputs",
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
            ("CheckValue", "The chain closes: every result is what its step wrote", "Completed", "#sha-512"),
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


def _file(path: str, meaning: str, size: int, kind: str = "") -> Entity:
    """Return a file of the crate."""
    return {
        "@id": path,
        "@type": "File",
        "name": path.rsplit("/", 1)[-1],
        "description": meaning,
        "contentSize": str(size),
        "encodingFormat": kind or _KINDS.get(path.rsplit(".", 1)[-1], "application/octet-stream"),
    }
