"""The description of a bag as an RO-Crate 1.2 in the Five Safes profile 0.4, as far as that fits (METHODS §10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reident.archive import layout
from reident.outcomes import ABOVE, RESERVED, WITHIN
from reident.study.model import Study
from reident.verdict import terminal

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


def _refer(name: str) -> dict[str, str]:
    return {"@id": name}


def _entity(identifier: str, kind: str | list[str], name: str, /, **properties: Any) -> Entity:
    return {"@id": identifier, "@type": kind, "name": name, **properties}


class Crate:
    """The crate of one study, from the documents of the payload by their paths in the bag.

    The `sizes` are those of these documents, and of the study file and the Snakefile by their folders.
    """

    def __init__(self, study: Study, file: str, documents: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.study, self.sizes, self.title = study, sizes, study.title or study.id
        self.study_file = f"{_at(layout.STUDY)}{file}"
        self.made: list[Entity] = documents[layout.OUTPUTS]["outputs"]
        self.read: list[Entity] = documents[layout.INPUTS]["inputs"]
        self.release, self.decision = documents[layout.RELEASE], documents[layout.DECISION]
        self.version: str = self.release["version"] or "unknown"

    def describe(self) -> Entity:
        """Return the metadata document of the crate."""
        study, parts, actions = self.study, list(self._parts()), list(self._actions())
        no_date = "" if study.date else "the study gives no date; "
        content = "what was computed, from what, with which code, and what the rule of decision came to."
        root = _entity(
            "./",
            "Dataset",
            self.title,
            description=f"The sealed study {study.id}: {no_date}{content}",
            identifier=study.id,
            datePublished=str(study.date or NO_DATE),
            license=_refer("#conditions"),
            conformsTo=_refer(PROFILE),
            publisher=_refer("#agency"),
            sourceOrganization=_refer("#project"),
            mainEntity=_refer(_at(layout.CODE)),
            hasPart=[_refer(part["@id"]) for part in parts],
            mentions=[_refer(action["@id"]) for action in actions],
        )
        links = {"about": _refer("./"), "conformsTo": _refer(CRATE)}
        descriptor = _entity(_at(layout.CRATE), "CreativeWork", "The description of this crate", **links)
        return {"@context": CONTEXT, "@graph": [descriptor, root, *parts, *actions, *self._context()]}

    def _parts(self) -> Iterator[Entity]:
        """Yield the files and folders of the payload."""
        for path, meaning in _DOCUMENTS.items():
            yield _file(_at(path), meaning, self.sizes[path])
        for path, meaning in _FOLDERS.items():
            yield _entity(_at(path), "Dataset", _at(path), description=meaning)
        yield _file(self.study_file, "The study file", self.sizes[layout.STUDY], "application/yaml")
        for line in (*self.made, *self.read):
            if line["bag"] and line.get("equal", "report") == "report":
                meaning = "The report" if "equal" in line else f"A source file, in the study file {line['path']}"
                yield _file(line["bag"], meaning, line["size"]) | {"sha256": line["sha256"]}
        code, snakefile, mit = _at(layout.CODE), f"{_at(layout.CODE)}Snakefile", {"license": _refer(MIT)}
        meaning = "The workflow and its library, as in a checkout"
        links = {"version": self.version, "hasPart": _refer(snakefile)}
        yield _entity(code, "Dataset", "reident", description=meaning, **links, **mit)
        yield (
            _file(snakefile, "The workflow", self.sizes[layout.CODE], "text/plain")
            | mit
            | {
                "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
                "programmingLanguage": _refer(SNAKEMAKE),
            }
        )

    def _context(self) -> Iterator[Entity]:
        """Yield the entities to which the actions and the root refer."""
        agency, version = _refer("#agency"), self.release["versions"].get("snakemake", "unknown")
        name = self.study.agency or "The agency that releases the file"
        counts = "The counts are exact, neither rounded nor suppressed. Only the agency passes them on."
        url, digests = ("https://snakemake.readthedocs.io", "https://www.iana.org/assignments/named-information")
        yield _entity(PROFILE, ["CreativeWork", "Profile"], "Five Safes RO-Crate profile", version="0.4")
        yield _entity("#agency", "Organization", name)
        yield _entity("#project", "Project", self.title, member=agency)
        yield _entity("#conditions", "CreativeWork", "Internal to the agency", description=counts)
        yield _entity(MIT, "CreativeWork", "MIT License", description="Of the code alone")
        yield _entity(SNAKEMAKE, "ComputerLanguage", "Snakemake", url=url, version=version)
        links = {"url": _refer(_at(layout.CODE)), "provider": agency}
        yield _entity("#reident", "SoftwareApplication", "reident", version=self.version, **links)
        yield _entity("#sha-512", "DefinedTerm", "sha-512 algorithm", url=digests)
        secrets = [line for line in self.read if not line["bag"]]
        for line in secrets:
            facts = {"contentSize": str(line["size"]), "sha256": line["sha256"]}
            permission = {"hasDigitalDocumentPermission": _refer("#permission")}
            yield _entity(_input(line), "DigitalDocument", line["path"], **facts, **permission)
        if secrets:
            name, kind = "Who may read the inputs", "http://schema.org/ReadPermission"
            grant = {"permissionType": kind, "grantee": agency}
            yield _entity("#permission", "DigitalDocumentPermission", name, **grant)

    def _actions(self) -> Iterator[Entity]:
        """Yield the actions on the study: completed ones and pending ones."""
        reports = [line["bag"] for line in self.made if line["equal"] == "report" and line["bag"]]
        results = (_at(layout.OUTPUTS), _at(layout.TABLES), *reports)
        yield _entity(
            "#run",
            "CreateAction",
            f"Run of the study {self.study.id}",
            agent=_refer("#agency"),
            instrument=_refer(_at(layout.CODE)),
            object=[_refer(name) for name in (self.study_file, *map(_input, self.read))],
            result=[_refer(name) for name in results],
            actionStatus=STATUS.format("Completed"),
        )
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
            yield _entity(
                f"#{kind}",
                "AssessAction",
                name,
                additionalType=_refer(f"https://w3id.org/shp#{kind}"),
                object=_refer("./"),
                agent=_refer("#agency" if kind == "SignOff" else "#reident"),
                actionStatus=STATUS.format(status),
                **({"instrument": _refer(instrument)} if instrument else {}),
            )


def _input(line: Entity) -> str:
    """Return the identifier of an input: its file in the crate, or its digest."""
    return line["bag"] or f"#sha256-{line['sha256']}"


def _file(path: str, meaning: str, size: int, kind: str = "") -> Entity:
    kind = kind or _KINDS.get(path.rsplit(".", 1)[-1], "application/octet-stream")
    name = path.rsplit("/", 1)[-1]
    return _entity(path, "File", name, description=meaning, contentSize=str(size), encodingFormat=kind)
