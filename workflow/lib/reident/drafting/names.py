"""The meaning of the name of a column: its words, similar names, and whether it names a key.

The words are those of surveys and registers in English, with some in German, French, Dutch and Spanish. A name is a
reason among others, never the only one for something that cannot be seen in the file.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONCEPTS = """\
age ages ageyears agep alter leeftijd edad agegroup ageyrs yearsold
sex gender geschlecht geslacht sexe sexo
region reg state province prov area county district land bundesland canton department dept municipality gemeinde
  city town country zone location loc regio ort stadt wohnort
marital marst mar marstat maritalstatus civil civilstatus civstat famstand familienstand relationship
education edu educ educ1 school schooling schl schulabschluss bildung qualification degree edulevel grade
occupation occ job profession beruf isco occup work
industry ind sector nace branch branche naics
income inc incomeest wage wages salary earnings earn einkommen inkomen pay revenue
race ethnicity ethnic ethnie etni rac raceth
tenure home housing ownership ten own housingtenure
hours hrs weeklyhours stunden hoursworked wkhp hoursperweek
householdsize hhsize hhmembers familysize members persons npers famsize sizehh
rent housingcost houscost homecost cost mortgage
weight wgt gewicht
children kids nchild kinder child
birth dob birthdate dateofbirth birthday geburtsdatum
birthyear yob yearofbirth geburtsjahr
nationality citizenship nativity cit nat
class pclass ticketclass
height hgt stature
fare price amount
"""
"""Words of the same concept; a line that begins with blanks continues the one before."""
_GROUPS = {word: at for at, line in enumerate(_CONCEPTS.replace("\n  ", " ").splitlines()) for word in line.split()}

_FILLERS = _set("""
    puf eif iuf pub public ext external est estimate estimated group grp code cd cat recode rec var variable x c
    n i years year yrs yr released release known number num level status of the in at p my
""")
"""Words that say nothing about what a column is about."""

_IDS = _set("""
    id ids pid uid uuid guid key serial serialno record recordid rec case caseid ident identifier nr no lfd
    laufnummer person personid pufid eifid hhid household house index idx seq seqn seqno row rownum rowid unit
    firm firmid respondent respid panel subject patient member broker code ref reference obs observation
""")
_STRONG_IDS = _set("""
    id ids pid uid uuid guid key serial serialno recordid caseid ident identifier personid pufid eifid hhid
    respid seqn seqno rowid
""")
_GEOGRAPHY = _GROUPS["region"]
_AMOUNTS = _set("""
    age income wage wages salary earnings hours amount cost rent price fare value weight height score balance
    debt debts assets wealth turnover revenue sales tax taxes expenditure distance year alter einkommen pay
    capital gain loss bmi length width area population minutes days months employees size total sum rate
""")
_CODES = _set("""
    code occ occupation isco industry ind nace naics zip zipcode postcode postal plz region county district puma
    state municipality fips sector branch department
""")


_WEIGHTS = re.compile(
    r"(weights?|wei?ghtp?|wgtp?|wgh?t|wt|wtp|wtfinl?|gewicht|poids|peso|wtss(all|nr|nrps)?|hrf|faktor|facteur|factor(el|exp)?|vikt|vekt|vaegt)"
)
"""The end of the name of a survey weight, before digits."""

_WEIGHT_WORDS = _set("""
    gew w wt pond ponderation ponderacion ponderador fac fexp coef coeff waga elevacion expansion hochrechnung extri
    ipondi finlwgt
""")
_WEIGHT_CODES = re.compile(r"[hm]?v005|[drph][bxy]0[4-9]0|(rep|w?rep)wt[ps]?")
_BODY = _set("weight gewicht poids peso vikt vekt vaegt wt wgt")
_STATURE = _set("height hgt stature bmi groesse koerpergroesse taille estatura lengte laengd hoyde")
"""Names that a person's own weight may have, too, and those of what stands beside it then."""


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `incomeEst_2` has income, est and 2."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain)
    return tuple(re.findall(r"[^\W\d_]+|\d+", parted.casefold()))


def joined(name: str) -> str:
    """Return the words of a name without separators."""
    return "".join(words(name))


def _core(name: str) -> tuple[str, ...]:
    return tuple(word for word in words(name) if word not in _FILLERS) or words(name)


def _concepts(name: str) -> set[int]:
    parts = words(name)
    forms = {joined(name), "".join(_core(name)), *parts}
    forms |= {first + second for first, second in pairwise(parts)}
    return {_GROUPS[form] for form in forms if form in _GROUPS}


@cache
def similarity(first: str, second: str) -> float:
    """Return how much two names resemble each other, from 0 to 1.

    1 for the same letters and digits; 0.95 for the same words but such as `est`; 0.8 for the same concept, as sex and
    gender; less for a similar spelling, and 0 below a ratio of 0.75.
    """
    if joined(first) == joined(second):
        return 1.0
    if "".join(_core(first)) == "".join(_core(second)):
        return 0.95
    if _concepts(first) & _concepts(second):
        return 0.8
    ratio = difflib.SequenceMatcher(None, joined(first), joined(second)).ratio()
    return 0.75 * ratio if ratio >= 0.75 else 0.0


def names_key(name: str) -> float:
    """Return how much a name looks like that of a key: 1, 0.6 or 0."""
    parts = words(name)
    if joined(name) in _STRONG_IDS or set(parts) & _STRONG_IDS:
        return 1.0
    if joined(name).endswith(("id", "nr", "key")) and len(joined(name)) <= 8:
        return 0.8
    if _concepts(name) - {_GEOGRAPHY}:
        return 0.0
    return 0.6 if joined(name) in _IDS or set(parts) & _IDS else 0.0


def names_area(name: str) -> bool:
    """Whether a name is that of a geographical unit."""
    return _GEOGRAPHY in _concepts(name)


def names_amount(name: str) -> bool:
    """Whether a name is that of a quantity."""
    return bool(set(words(name)) & _AMOUNTS) or bool(_concepts(name) & {_GROUPS["income"], _GROUPS["hours"]})


def names_code(name: str) -> bool:
    """Whether a name is that of a classification whose codes may be numbers."""
    return bool(set(words(name)) & _CODES)


def names_weight(name: str) -> bool:
    """Whether a name is that of a survey weight, as surveys and registers of several countries call them."""
    plain = joined(name).rstrip("0123456789")
    ends = any(_WEIGHTS.fullmatch(plain, at) for at in range(len(plain)))
    return ends or bool(set(words(name)) & _WEIGHT_WORDS or _WEIGHT_CODES.fullmatch(joined(name)))


def names_own_weight(name: str, others: Iterable[str]) -> bool:
    """Whether a name is that of a person's own weight, as beside a height."""
    return joined(name) in _BODY and any(set(words(other)) & _STATURE for other in others)
