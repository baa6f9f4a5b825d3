"""Drawn pairs of files for `reident init`: languages, codes, missing codes and decimal separators at random.

Each comes with the study that is right: which code of each file is which category, or means missing.
"""

import string
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from making.drafting import saved

WORDS = {
    "sex": {"en": ["male", "female"], "de": ["männlich", "weiblich"], "fr": ["homme", "femme"], "nl": ["man", "vrouw"]},
    "marital": {
        "en": ["single", "married", "separated", "divorced", "widowed"],
        "de": ["ledig", "verheiratet", "getrennt", "geschieden", "verwitwet"],
        "fr": ["célibataire", "marié", "séparé", "divorcé", "veuf"],
        "nl": ["ongehuwd", "gehuwd", "apart", "gescheiden", "verweduwd"],
    },
    "education": {
        "en": ["none", "primary", "lower", "upper", "tertiary", "doctorate"],
        "de": ["ohne", "Grundschule", "Hauptschule", "Abitur", "Studium", "Promotion"],
        "fr": ["aucun", "primaire", "collège", "lycée", "licence", "doctorat"],
        "nl": ["geen", "basis", "vmbo", "havo", "hbo", "doctor"],
    },
    "tenure": {
        "en": ["owned", "rented", "free"],
        "de": ["Eigentum", "Miete", "unentgeltlich"],
        "fr": ["propriétaire", "locataire", "gratuit"],
        "nl": ["koop", "huur", "gratis"],
    },
    "student": {"en": ["yes", "no"], "de": ["ja", "nein"], "fr": ["oui", "non"], "nl": ["ja", "nee"]},
    "occupation": {},
}
"""The categories of each variable by language; those of an occupation are numbered."""

N_OCCUPATIONS = 9
NAMES = {
    "sex": ["sex", "gender", "Geschlecht", "sexe"],
    "marital": ["marital", "marstat", "Familienstand", "civil_status"],
    "education": ["education", "educ", "schulabschluss"],
    "tenure": ["tenure", "housing"],
    "student": ["student", "Student", "STUDENT"],
    "occupation": ["occupation", "job", "Beruf"],
    "age": ["age", "alter", "AGE"],
    "income": ["income", "einkommen", "Income_Est"],
}
UNKNOWN = {
    "en": ["unknown", "refused", "not stated"],
    "de": ["keine Angabe", "k.A.", "unbekannt"],
    "fr": ["inconnu", "sans réponse"],
    "nl": ["onbekend", "weet niet"],
}


@dataclass
class Coding:
    """How one file writes one variable: the column, the code of each category, and the codes that mean missing.

    Two categories may share a code; numbers have none.
    """

    name: str
    codes: list[str]
    missing: list[str]


@dataclass
class DrawnPair:
    """A pair of files with its links, and what is right."""

    paths: list[Path]
    options: dict[str, dict[str, str]]  # by side, how the file is written
    codings: dict[str, dict[str, Coding]]  # by variable and side
    rows: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)  # by side, key and column
    links: list[tuple[str, str]] = field(default_factory=list)  # the keys of linked records
    rare: list[str] = field(default_factory=list)  # codes of two records, which no draft may have

    def meaning(self, variable: str, side: str, cell: str) -> Any:
        """What a cell means: None if it is missing, the number, or the category as far as both files tell it."""
        coding = self.codings[variable][side]
        if cell in coding.missing:
            return None
        if not coding.codes:
            return float(cell.replace(self.options[side]["decimal"], "."))
        return self._common(variable).get((side, cell), (side, cell))

    def _common(self, variable: str) -> dict[tuple[str, str], int]:
        """The category of each code of each file: categories that share a code in one file are the same."""
        codings = self.codings[variable]
        category = list(range(len(codings["puf"].codes)))
        for coding in codings.values():
            for one, code in enumerate(coding.codes):
                first = coding.codes.index(code)
                old, new = category[one], category[first]
                category = [new if own == old else own for own in category]
        return {(side, code): category[at] for side, coding in codings.items() for at, code in enumerate(coding.codes)}


def draw(folder: Path, seed: int) -> DrawnPair:
    """Draw a pair of files of 500 to 1,200 people."""
    random = Random(seed)  # noqa: S311 - made-up people
    folder.mkdir(parents=True, exist_ok=True)
    languages = {side: random.choice(["en", "de", "fr", "nl"]) for side in ("puf", "eif")}
    codings: dict[str, dict[str, Coding]] = {}
    for variable, words in WORDS.items():
        n = len(words["en"]) if words else N_OCCUPATIONS
        same = random.random() < 0.25
        style = random.choice(_styles(words))
        codings[variable] = {
            side: _coding(random, variable, n, language, style if same else random.choice(_styles(words)))
            for side, language in languages.items()
        }
    for variable, nines in (("age", "998"), ("income", "999998")):
        codings[variable] = {
            side: Coding(random.choice(NAMES[variable]), [], _missing_number(random, language, nines))
            for side, language in languages.items()
        }
    options = {side: _options(random) for side in ("puf", "eif", "iuf")}
    pair = DrawnPair([folder / f"{side}.csv" for side in options], options, codings)
    _people(random, pair)
    _write(pair)
    return pair


def _styles(words: dict[str, list[str]]) -> list[str]:
    return ["digits", "from 0", "padded", *(["letters", "words", "words"] if words else [])]


def _coding(random: Random, variable: str, n: int, language: str, style: str) -> Coding:
    words = WORDS[variable]
    if style == "words":
        codes = [word.capitalize() if random.random() < 0.1 else word for word in words[language]]
        missing = random.choice(["", ".", "?", "NA", *UNKNOWN[language]])
    elif style == "letters":
        codes = random.sample(string.ascii_uppercase, n)
        if random.random() < 0.4 and not {"X", "U"} & set(codes):
            codes[random.randrange(n)] = random.choice("XU")
        missing = random.choice([code for code in ("U", "X", "", "?", "-9") if code not in codes])
    else:
        first = 0 if style == "from 0" else 1
        codes = [f"{at:02d}" if style == "padded" else str(at) for at in range(first, first + n)]
        nines = ["8", "9"] if n < 7 and style != "padded" else []
        missing = random.choice(["", ".", "-9", "98", "99", *nines])
    if n > 3 and random.random() < 0.3:  # the last categories are one
        codes[-1] = codes[-2]
    elif n > 3 and random.random() < 0.1:
        codes[1] = codes[0]
    return Coding(random.choice(NAMES[variable]), codes, [missing] if random.random() < 0.8 else [])


def _missing_number(random: Random, language: str, nines: str) -> list[str]:
    return random.choice([[], [""], ["."], ["-9"], [nines], [random.choice(UNKNOWN[language])]])


def _options(random: Random) -> dict[str, str]:
    return {
        "delimiter": random.choice([",", ";", "\t", "|"]),
        "decimal": random.choice([".", ","]),
        "encoding": random.choice(["utf-8", "utf-8", "cp1252", "utf-8-sig"]),
    }


def _people(random: Random, pair: DrawnPair) -> None:
    n, noise = random.randint(500, 1200), random.choice([0, 0, 0.02, 0.05])
    rates = {key: random.uniform(0.02, 0.12) for key in (*WORDS, "age", "income")}
    weights = {key: [random.uniform(0.4, 1) for _ in pair.codings[key]["puf"].codes] for key in WORDS}
    pair.rows = {"puf": {}, "eif": {}}
    for person in range(n):
        true: dict[str, Any] = {key: random.choices(range(len(own)), own)[0] for key, own in weights.items()}
        true |= {"age": random.randint(16, 90), "income": round(random.lognormvariate(7, 0.7), 2)}
        sides = ["puf", "eif"] if person % 3 else random.sample(["puf", "eif"], 1)
        keys = {"puf": f"{100_000 + person * 7}", "eif": f"e{person:05d}"}
        for side in sides:
            row = {"pid" if side == "puf" else "eid": keys[side]}
            for key, value in true.items():
                other = random.randrange(len(weights[key])) if key in weights else value
                told = other if side == "eif" and random.random() < noise else value
                row[pair.codings[key][side].name] = _cell(random, pair, key, side, told, rates[key])
            pair.rows[side][keys[side]] = row
        if len(sides) == 2:
            pair.links.append((keys["puf"], keys["eif"]))
    for side, variable in (("puf", "occupation"), ("eif", "education")):
        if random.random() < 0.3:
            pair.rare.append(f"zq{side}")
            for row in random.sample(list(pair.rows[side].values()), 2):
                row[pair.codings[variable][side].name] = f"zq{side}"


def _cell(random: Random, pair: DrawnPair, variable: str, side: str, value: Any, rate: float) -> str:
    coding = pair.codings[variable][side]
    if coding.missing and random.random() < rate:
        return random.choice(coding.missing)
    if coding.codes:
        return coding.codes[value]
    text = str(value) if isinstance(value, int) else f"{value:.2f}"
    return text.replace(".", pair.options[side]["decimal"])


def _write(pair: DrawnPair) -> None:
    tables: list[list[list[str]]] = [
        [list(next(iter(rows.values()))), *(list(row.values()) for row in rows.values())]
        for rows in (pair.rows["puf"], pair.rows["eif"])
    ]
    tables.append([["pid", "eid"], *([one, other] for one, other in pair.links)])
    for path, table, options in zip(pair.paths, tables, pair.options.values(), strict=True):
        saved(path, table, options["encoding"], delimiter=options["delimiter"])
