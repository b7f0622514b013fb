"""English: contractions; lemmas by a second dictionary that knows parts of speech, and by the neighbours of a form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from perin.text.dictionary import english_readings
from perin.text.languages import word_set
from perin.text.scanner import Piece, number_and_unit, with_endings

_ENDING = re.compile(r"(?<=.)(?:n['’]t|['’](?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_NEGATED = word_set("ai are ca could did do does had has have is should was were wo would")
_CONTRACTIONS = {f"{verb}nt": (len(verb),) for verb in _NEGATED} | {
    "alot": (1,),
    "c'mon": (3,),
    "cannot": (3,),
    "d'you": (2,),
    "dunno": (2, 3),
    "gimme": (3,),
    "gonna": (3,),
    "gotta": (3,),
    "i'ma": (1, 3),
    "im": (1,),
    "ive": (1,),
    "lemme": (3,),
    "outta": (3,),
    "rock'n'roll": (4, 7),
    "thats": (4,),
    "theres": (5,),
    "wanna": (3,),
    "whats": (4,),
    "y'all": (2,),
    "youll": (3,),
    "youre": (3,),
}
"""Words without a regular ending, and where their pieces begin."""

_SUBJECTS = word_set("i you he she it we they who")
_MODALS = word_set("can could will would shall should may might must ca wo 'll to")
_BE = word_set("be am is are was were been being 'm 're")
_HAVE = word_set("have has had having 've")
_ADVERBS = word_set("not n't never also just always really even still only already ever often")
_BEFORE_NOUN = word_set(
    "a an the this that these those my your his her its our their no any every each some 's "
    "of in on at by for with from into about as over after under than like "
    "great good little other own few next last main first second"
)
_BEFORE_IS = _SUBJECTS | word_set("that there here what where how this everyone everything when")
_NOUNS = {"leaves": "leaf", "lives": "life", "saw": "saw"}
"""Forms of nouns that are more often forms of verbs."""


def pieces(word: str) -> tuple[Piece, ...]:
    """The tokens of a word.

    >>> [piece.end for piece in pieces("couldn't've")], [piece.end for piece in pieces("cannot")]
    ([5, 8, 11], [3, 6])
    """
    cuts = _CONTRACTIONS.get(word.lower().replace("’", "'"))
    if cuts:
        return tuple(Piece(cut) for cut in (*cuts, len(word)))
    return number_and_unit(word) or with_endings(word, _ENDING)


def checked_lemma(form: str, lemma: str) -> str:
    """The lemma, unless the second dictionary knows the form and no such lemma at all: then its own.

    >>> checked_lemma("playing", "playe"), checked_lemma("Tom", "Tom")
    ('play', 'Tom')
    """
    readings = english_readings(form.lower())
    known = {word for words in readings.values() for word in words}
    if not known or lemma.lower() in known or lemma.lower() == form.lower():
        return lemma
    if any(lemma.lower() in words for words in english_readings(lemma.lower()).values()):
        return lemma
    return next(readings[part][0] for part in ("verb", "noun", "adj", "adv", "aux") if part in readings)


def in_context(forms: Sequence[str], lemmas: Sequence[str]) -> list[str]:
    """Lemmas corrected by the words around: 's and 'd, and forms of verbs that can be other words, too.

    >>> in_context(["He", "'s", "left", "Tom", "'s", "left"], ["he", "'s", "left", "Tom", "'s", "left"])
    ['he', 'be', 'leave', 'Tom', "'s", 'left']
    """
    words = [form.lower().replace("’", "'") for form in forms]
    found = []
    for index, lemma in enumerate(lemmas):
        found.append(_in_context(words, index, lemma))
        if words[index] == "'s":
            words[index] = {"be": "is", "have": "has"}.get(found[-1], "'s")
    return found


def _in_context(words: list[str], index: int, lemma: str) -> str:
    word = words[index]
    before = words[index - 1] if index else ""
    after = words[index + 1] if index + 1 < len(words) else ""
    if word == "'s":
        return _clitic_s(before, after)
    if word == "'d":
        return "have" if after in ("better", "been", "had") or after.endswith("ed") else "would"
    if word == "am" and before.isdecimal():
        return word
    if word in _NOUNS:
        return _NOUNS[word] if before in _BEFORE_NOUN else lemma
    verb = _verb(word, lemma)
    return verb if verb and _is_verb(words, index, before) else lemma


def _clitic_s(before: str, after: str) -> str:
    """'s is a form of 'be' or 'have', or marks a possessor (and is then its own lemma)."""
    if before == "let":
        return "we"
    if after == "been" or (before in _BEFORE_IS and after in ("got", "had")):
        return "have"
    return "be" if before in _BEFORE_IS or after in ("a", "an", "the", "not", "n't", "so", "very", "going") else "'s"


@lru_cache(maxsize=1 << 14)
def _verb(word: str, lemma: str) -> str | None:
    """The lemma as a verb of a form that was given another word's lemma; None where there is no question."""
    verbs = english_readings(word).get("verb", ()) if word not in _MODALS else ()
    return verbs[0] if verbs and lemma.lower() not in verbs and word not in verbs else None


def _is_verb(words: list[str], index: int, before: str) -> bool:
    """Whether the neighbours of a form that may be a verb's speak for it."""
    word, gerund = words[index], words[index].endswith("ing")
    index -= 1
    while index > 0 and (words[index] in _ADVERBS or words[index].endswith("ly")):
        index -= 1
    governor = words[index] if index >= 0 else ""
    if governor in _SUBJECTS:
        return True
    if gerund:
        return governor in _BE
    if governor in _MODALS:
        return True
    return not word.endswith("s") and (governor in _HAVE or before not in _BEFORE_NOUN)
