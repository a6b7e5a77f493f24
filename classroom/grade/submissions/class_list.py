"""Who is in the class: a roster, read as teachers and learning platforms have it."""

import datetime
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from ..tables import rows_of
from .moments import moment

COLUMNS = {  # what a column may be called, in Moodle's and Canvas's own exports too
    "id": ("id", "student id", "id number", "sis user id", "matriculation number", "number", "username"),
    "name": ("name", "student", "full name", "student name"),
    "first": ("first name", "given name"),
    "last": ("last name", "surname", "family name"),
    "email": ("e-mail", "email", "email address", "e-mail address", "mail", "sis login id"),
    "canvas": ("canvas id",),
    "section": ("section",),
    "moodle": ("identifier",),
}
ELSEWHERE = {  # what Moodle, other platforms and offices call them elsewhere
    "id": (
        "matrikelnummer", "matrikel-nr", "matrikel", "matr nr", "mat nr", "mtk nr", "id-nummer", "student number",
        "student no", "registration number", "studentnummer", "numéro d'identification", "numéro étudiant",
        "n° étudiant", "matricule", "matricola", "número de id", "número de matrícula", "nº de matrícula", "user name",
        "login", "kennung", "benutzername",
    ),
    "name": (
        "vollständiger name", "name vorname", "nachname vorname", "nom complet", "nombre completo", "nome completo",
    ),
    "first": (
        "vorname", "vornamen", "forename", "given names", "prénom", "prénoms", "nombre", "nombres", "voornaam", "nome",
    ),
    "last": (
        "nachname", "familienname", "zuname", "nom de famille", "nom", "apellido(s)", "cognome", "achternaam",
        "apelido", "sobrenome",
    ),
    "email": (
        "e-mail-adresse", "mailadresse", "mail address", "adresse de courriel", "courriel", "adresse e-mail",
        "dirección de correo", "correo electrónico", "correo",
    ),
}  # fmt: skip
COLUMNS = {part: (*names, *ELSEWHERE.get(part, ())) for part, names in COLUMNS.items()}
WORKSHEET = {
    "moodle": "identifier",
    "status": "status",
    "grade": "grade",
    "most": "maximum grade",
    "came": "last modified (submission)",
}


@dataclass(frozen=True)
class Person:
    """A student of the class; whoever is not on the roster has a name only."""

    name: str
    id: str = ""
    email: str = ""
    canvas: str = ""  # Canvas's own number of the student
    section: str = ""
    moodle: str = ""  # Moodle's number of the student in this assignment, which a grading worksheet has
    place: str = ""  # of one whose name two of the roster have: where the files are
    listed: bool = True
    late: bool = False  # as a grading worksheet in English says
    came: datetime.datetime | None = None  # when the newest hand-in came, as a grading worksheet says
    status: str = ""  # how far the hand-in is, in a grading worksheet's own words

    @property
    def number(self):
        """The id on the roster, or else a platform's."""
        return self.id or self.moodle or self.canvas

    @property
    def apart(self):
        """What tells this student from a namesake, "" if nothing does."""
        return self.number or self.email or self.place

    def forms(self):
        """All spellings by which a file may name this student."""
        words = words_of(self.name)
        forms = {"".join(sorted(words)), *("".join(words[i:] + words[:i]) for i in range(len(words)))}
        codes = (self.id, self.email, self.email.partition("@")[0], self.canvas)
        return forms | {"".join(words_of(code)) for code in codes if code}


def labels(people):
    """Return {person: label}: the name, and for namesakes also what tells them apart."""
    how_many = Counter(tuple(words_of(person.name)) for person in people)
    alone = {person for person in people if how_many[tuple(words_of(person.name))] == 1 or not person.apart}
    return {person: person.name if person in alone else f"{person.name} ({person.apart})" for person in people}


def composed(text):
    """Return a text with composed accents, as keyboards type them; a Mac's file names have them apart."""
    return unicodedata.normalize("NFC", text)


def words_of(text):
    """Return a name's words for comparison: case, punctuation and the encoding of accents are ignored."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.findall(r"[^\W_]+", text)


def read_roster(path):
    """The `Person`s of a roster: columns id, name, e-mail, or a list of participants from Moodle or Canvas.

    A grading worksheet of Moodle's is one too; where marking is blind it has numbers and no names.

    Raises: ValueError for a file without names and ids, OSError for none.
    """
    columns, rows = rows_of(path)
    at = worksheet(columns, [list(row.values()) for row in rows] if len({*columns}) == len(columns) else [])
    is_canvas = "sis login id" in columns or ("student" in columns and "section" in columns)
    heads = {_squeezed(column): column for column in reversed(columns)}
    place = {
        part: next((heads[_squeezed(name)] for name in names if _squeezed(name) in heads), None)
        for part, names in COLUMNS.items()
    }
    if "grade" in at:  # in whatever language
        moodle = columns[at["moodle"]]
        place = {part: name if name != moodle else None for part, name in place.items()} | {"moodle": moodle}
        place["name"] = place["name"] or (columns[at["name"]] if "name" in at else None)
        place["email"] = place["email"] or (columns[at["email"]] if "email" in at else None)
    if is_canvas:  # there ID is Canvas's own
        place |= {"canvas": "id", "id": "sis user id" if "sis user id" in columns else None}
    if not any(place[part] for part in ("name", "last", "id", "email", "moodle")):
        raise ValueError(f"{path} has no column for names, ids or e-mail addresses, as in id,name,e-mail")
    people = []
    for row in rows:
        part = {key: row.get(name, "") if name else "" for key, name in place.items()}
        name = part["name"] or " ".join(filter(None, [part["first"], part["last"]]))
        if part["name"] and part["first"] and not set(words_of(part["first"])) & set(words_of(name)):
            name = f"{part['first']} {name}"  # where "Name" is the last name
        if is_canvas and (name.strip() in ("Points Possible", "Student, Test") or not any(part.values())):
            continue
        name = name or part["email"] or part["id"] or part["moodle"]
        number = moodle_number(part["moodle"])
        late = bool(number and re.search(r"\blate\b", row.get("status", "")))  # "… - 1 day 2 hours late"
        codes = (part["id"], part["email"], part["canvas"], part["section"], number)
        came = moment(row.get(columns[at["came"]], "")) if "came" in at else None
        status = row.get(columns[at["status"]], "").partition(" - ")[0].strip() if "status" in at else ""
        people.append(Person(name, *codes, late=late, came=came, status=status))
    if not people:
        raise ValueError(f"{path} lists nobody")
    return people


def _squeezed(head):
    """A column's head without what people write differently: Matrikel-Nr., Matrikel Nr, matrikelnr."""
    return "".join(words_of(head))


def worksheet(heads, lines):
    """{part: place of its column} of a Moodle grading worksheet; what its heads do not say, in English, its cells do.

    It begins with everybody's number behind one word, `Teilnehmer/in2003`, then has their names unless marking is
    blind, and has each one's grade just before the maximum, which is the same for all. Another table has no "grade".
    """
    names = [head.strip().casefold() for head in heads]
    place = {part: names.index(name) for part, name in WORKSHEET.items() if name in names}
    if "moodle" in place:
        return place | _came(place, lines, len(heads))
    columns = list(zip(*(line for line in lines if len(line) == len(heads)), strict=True))
    if not columns or len({re.sub(r"\s*\d+$", "", cell.strip()) or cell for cell in columns[0]}) > 1:
        return {}
    for most in range(2, len(columns)):
        same = {_decimal(cell) for cell in columns[most]}
        if len(same) == 1 and (same.pop() or 0) > 0 and all(map(_is_grade, columns[most - 1])):
            place = {"moodle": 0, "grade": most - 1, "most": most} | ({"status": most - 2} if most > 2 else {})
            break
    else:
        return {}
    between = range(1, place["grade"] - 1)  # the last of them tells how far a student is
    mails = [i for i in between if all("@" in cell or not cell for cell in columns[i]) and any(columns[i])]
    names = [i for i in between[:1] if i not in mails]
    place |= {part: some[0] for part, some in (("email", mails), ("name", names)) if some}
    return place | _came(place, lines, len(heads))


def _came(place, lines, width):
    """The column that says when each hand-in came: of the two with moments behind the maximum the first."""
    if "came" in place or "most" not in place:
        return {}
    of_moments = []
    for column in range(place["most"] + 1, width):
        cells = [line[column].strip() for line in lines if len(line) == width]
        if cells and all(cell in ("", "-") or moment(cell) for cell in cells):
            of_moments.append(column)
    arrivals = of_moments[:1] if len(of_moments) > 1 and of_moments[1] == of_moments[0] + 1 else []
    return {"came": arrivals[0]} if arrivals else {}


def _decimal(text):
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _is_grade(text):
    return text.strip() in ("", "-") or _decimal(text) is not None


def moodle_number(identifier):
    """1001 of the `Participant 1001` that a grading worksheet has."""
    digits = re.search(r"\d+$", identifier.strip())
    return digits[0] if digits else ""
