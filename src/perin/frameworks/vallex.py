"""Reader of valency lexica in XML: PDT-Vallex, EngVallex and the two halves of CzEngVallex.

Written from the public description of the PDT-Vallex file; not tried on an original file, which is not free to pass on.
A ``word`` element has a ``lemma`` and holds ``frame`` elements with an ``id`` each.
"""

from __future__ import annotations

import os
from collections import Counter
from xml.etree import ElementTree

from perin.errors import InputError
from perin.frameworks.vocabulary import Lexicon
from perin.labels.space import fold


def read_vallex(path: str | os.PathLike[str], prefix: str = "v#") -> Lexicon:
    """The frames of each lemma in file order, with the prefix that the treebank puts before frame ids.

    Spaces in lemmas are underscores in graphs (``bát se``, ``bát_se``).
    """
    entries: dict[str, dict[str, None]] = {}
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag == "word":
                lemma = fold(element.get("lemma", "").replace(" ", "_"))
                frames = entries.setdefault(lemma, {})
                frames.update({prefix + id: None for frame in element.iter("frame") if (id := frame.get("id"))})
                element.clear()
    except ElementTree.ParseError as error:
        raise InputError(
            f"no XML ({error}); expected a Vallex file", source=os.fspath(path), line=error.position[0]
        ) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", source=os.fspath(path)) from None
    lexicon = {lemma: tuple(frames) for lemma, frames in entries.items() if frames}
    if not lexicon:
        raise InputError("no word with a frame in it; expected a Vallex file", source=os.fspath(path))
    return lexicon


def usual_prefix(lexicon: Lexicon) -> str:
    """What most values of a treebank's lexicon have before the id of the frame: all up to ``#``.

    >>> usual_prefix({"go": ("en-v#ev-w1f1", "en-v#ev-w1f2"), "be": ("2",)})
    'en-v#'
    """
    prefixes = Counter(value[: value.rfind("#") + 1] for values in lexicon.values() for value in values)
    return prefixes.most_common(1)[0][0] if prefixes else ""
