"""German: clitics, infinitives with an inner 'zu', compounds; lemmas of verbs."""

from __future__ import annotations

import re

from perin.text.dictionary import dictionary_lemma
from perin.text.languages import word_set
from perin.text.scanner import Piece, number_and_unit, with_endings

_ENDING = re.compile(r"(?<=.)['’](?:s|n|ne|nen|nem|ner)$", re.IGNORECASE)
_PARTICLES = (
    *("ab", "an", "auf", "aus", "bei", "durch", "ein", "fort", "gerade", "her", "hin"),
    *("los", "mit", "nach", "um", "vor", "weg", "weiter", "zu", "zurück", "zusammen"),
)
_LINKS = ("", "s", "es", "n", "en", "er", "e")
"""What may stand between the two parts of a compound: Meer|es|grund."""
_STEMS = {"erd": "Erde", "farb": "Farbe", "kirch": "Kirche", "schul": "Schule", "sprach": "Sprache"}
"""First parts of compounds that lack the last letter of the noun."""
_SHORT = word_set("arm bad eis fuß gas hof hut ohr ort rad see tag tal tee tor uhr weg zug")
"""Nouns of three letters that form compounds; others of that length are mostly syllables."""
_NO_NOUNS = re.compile(
    r"(?:[bdflmnrst]|eil|schl)ung(?:en)?|[nst]?ionen|schaft(?:en)?|.?[hk]eit(?:en)?|tum|isch(?:e[nrms]?)?|chen|sten|rechen"
    r"|stag(?:e?s|en?)?|char|dien|eins|frank|klei|komi|mate|mill|quad|russ|schoko|span|touri|verb|vers|zent"
)
"""Nouns of the dictionary that are more often the end of a word."""


def pieces(word: str) -> tuple[Piece, ...]:
    """The tokens of a word; the last one of an infinitive or a compound has the lemma of the whole.

    >>> [tuple(piece) for piece in pieces("auszuhalten")], [tuple(piece) for piece in pieces("hinzufügen")]
    ([(3, None), (5, None), (11, 'aushalten')], [(10, None)])
    >>> [tuple(piece) for piece in pieces("Meeresgrund")]
    [(6, 'Meer'), (11, 'Meeresgrund')]
    """
    return number_and_unit(word) or _infinitive(word) or _compound(word) or with_endings(word, _ENDING)


def checked_lemma(form: str, lemma: str) -> str:
    """The lemma without a verb's particle that the form does not have, and in the form's own spelling of ß and ss."""
    if lemma.islower() and lemma.endswith("n"):
        for particle in _PARTICLES:
            if lemma.startswith(particle) and not form.lower().startswith(particle):
                return lemma.removeprefix(particle)
    return form if lemma.replace("ß", "ss") == form else lemma


def _infinitive(word: str) -> tuple[Piece, ...]:
    """A verb whose dictionary form lacks an inner 'zu': aus|zu|halten, but not hinzufügen."""
    position = word.find("zu", 2)
    while 0 < position < len(word) - 4:
        verb = word[:position] + word[position + 2 :]
        if dictionary_lemma(word, "deu") == verb:
            return Piece(position), Piece(position + 2), Piece(len(word), verb)
        position = word.find("zu", position + 1)
    return ()


def _compound(word: str) -> tuple[Piece, ...]:
    """Two nouns of the dictionary, split into the most even parts with the shortest link.

    Words at the start of a sentence that the dictionary has, but not as nouns, stay whole.
    """
    lemma = dictionary_lemma(word, "deu") or word
    if len(word) < 6 or not word.istitle() or not word.isalpha() or lemma.islower():
        return ()
    best: tuple[tuple[int, int], int, str] | None = None
    for cut in range(3, len(word) - 2):
        if not _is_noun(word[cut:]):
            continue
        found = _first_noun(word[:cut])
        if found and (best is None or (min(cut, len(word) - cut), -found[1]) > best[0]):
            best = (min(cut, len(word) - cut), -found[1]), cut, found[0]
    if best is None:
        return ()
    return Piece(best[1], best[2]), Piece(len(word), checked_lemma(word, lemma))


def _first_noun(part: str) -> tuple[str, int] | None:
    """The noun that is the first part of a compound, and the length of the link after it."""
    if part.lower() in _STEMS:
        return _STEMS[part.lower()], 0
    for link in _LINKS:
        noun = part.removesuffix(link)
        if part.endswith(link) and _is_noun(noun) and dictionary_lemma(noun, "deu") == noun:
            return noun, len(link)
    return None


def _is_noun(part: str) -> bool:
    """Whether a part of a compound is a form of a noun."""
    if len(part) < 3 or (len(part) == 3 and part.lower() not in _SHORT) or _NO_NOUNS.fullmatch(part.lower()):
        return False
    lemma = dictionary_lemma(part.capitalize(), "deu")
    return lemma is not None and lemma[0].isupper()
