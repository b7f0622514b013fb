from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import MissingDependencyError, UsageError
from perin.text import lemmatize, tokenize
from perin.text.dictionary import _folder
from perin.text.tokenizer import lemmatize_all

ENGLISH = """
be was were been am is are; have has had having; do does did done doing; go goes went gone going; say said;
make made; know knew known; think thinks thinking; take took taken; see seen; come came; give gave given;
find found; tell told; become became; feel felt; leave leaving; put putting; mean meant; keep kept; let letting;
begin began begun; show shown; hear heard; run ran running; hold held; bring brought; write wrote written;
sit sat; stand stood; lose lost; pay paid; meet met; speak spoke spoken; lead led; read reading;
grow grew grown; win won; buy bought; send sent; fall fell fallen; cut cuts; sell sold; drive drove driven;
break broke broken; eat ate eaten; choose chose chosen; draw drew drawn; fly flew flown;
forget forgot forgotten; freeze froze frozen; get got gotten; hide hid hidden; ring rang rung; rise risen;
shake shook shaken; sing sang sung; sink sank sunk; sleep slept; steal stole stolen; swear swore sworn;
swim swam swum; teach taught; tear tore torn; throw threw thrown; wake woke woken; wear wore worn; build built;
burn burnt; catch caught; deal dealt; dig dug; fight fought; hang hung; hurt hurting; lend lent; shine shone;
shoot shooting; shut shutting; spend spent; stick stuck; strike struck; sweep swept; understand understood;
lie lying; die dying; try tries tried trying; stop stopped stopping; use used using; play playing;
develop developed; child children; man men; woman women; foot feet; tooth teeth; goose geese; mouse mice;
knife knives; wife wives; wolf wolves; half halves; city cities; box boxes; church churches; bus buses;
potato potatoes; thief thieves; hero heroes; analysis analyses; crisis crises; phenomenon phenomena;
criterion criteria; good better best; bad worse worst; big bigger biggest; happy happier happiest; he him;
they them; we us; I me; a an
"""
GERMAN = """
backen gebacken; befehlen befahl befohlen; beginnen begann begonnen; beißen biss gebissen; biegen bog gebogen;
bieten bot geboten; binden band gebunden; bitten bat gebeten; blasen blies; bleiben blieb geblieben;
brechen brach; brennen brannte gebrannt; bringen brachte gebracht; denken dachte gedacht;
empfehlen empfahl empfohlen; essen aß gegessen; fahren fuhr gefahren; fallen fiel; fangen fing gefangen;
finden fand gefunden; fliegen flog geflogen; fliehen floh; fließen floss geflossen; frieren fror gefroren;
geben gab gegeben; gehen ging gegangen; gelingen gelang gelungen; gelten galt gegolten;
genießen genoss genossen; geschehen geschah; gewinnen gewann gewonnen; gießen goss gegossen;
graben grub gegraben; greifen griff gegriffen; haben hatte gehabt; halten hielt gehalten; hängen hing gehangen;
heben hob gehoben; heißen hieß geheißen; helfen half geholfen; kennen kannte gekannt; klingen klang geklungen;
kommen kam gekommen; kriechen kroch gekrochen; laden lud geladen; lassen ließ gelassen; laufen lief gelaufen;
leiden litt gelitten; leihen lieh geliehen; lesen las gelesen; liegen lag gelegen; lügen log gelogen;
nehmen nahm genommen; nennen nannte genannt; pfeifen pfiff gepfiffen; raten riet; reißen riss gerissen;
reiten ritt geritten; rennen rannte gerannt; riechen roch gerochen; rufen rief gerufen;
scheinen schien geschienen; schieben schob geschoben; schießen schoss geschossen; schlafen schlief geschlafen;
schlagen schlug geschlagen; schließen schloss geschlossen; schneiden schnitt geschnitten;
schreiben schrieb geschrieben; schreien schrie geschrien; schweigen schwieg geschwiegen;
schwimmen schwamm geschwommen; sehen sah gesehen; sein war gewesen ist bin; senden sandte gesandt;
singen sang gesungen; sinken sank gesunken; sitzen saß gesessen; sprechen sprach gesprochen;
springen sprang gesprungen; stehen stand gestanden; stehlen stahl gestohlen; steigen stieg gestiegen;
sterben starb gestorben; stoßen stieß gestoßen; streiten stritt; tragen trug getragen; treffen traf getroffen;
treiben trieb getrieben; treten trat getreten; trinken trank getrunken; tun tat getan; vergessen vergaß;
verlieren verlor verloren; verschwinden verschwand verschwunden; wachsen wuchs gewachsen;
waschen wusch gewaschen; werden wurde geworden; werfen warf geworfen; wiegen wog gewogen; wissen wusste gewusst;
ziehen zog gezogen; zwingen zwang gezwungen; Fluss; Junge; Kind Kinder; Haus Häuser; gut besser besten;
groß größer
"""
CZECH = """
být jsem jsi je jsme jste jsou byl byla bylo byli; mít má měl mají; jít jde šel šla šli; chtít chce chtěl;
moci může mohl; vědět ví věděl; říci řekl; vidět vidí viděl; dát dal; člověk lidé lidi; dítě děti; rok roku let;
den dne dny; dobrý lepší nejlepší; velký větší největší; malý menší; špatný horší; dům domu domy; pes psa psi;
já mě mi; on ho mu
"""


def pairs(table: str) -> list[tuple[str, str]]:
    """Form and lemma; the first word of each entry is the lemma, and a form of itself."""
    entries = [entry.split() for entry in table.split(";")]
    return [(form, words[0]) for words in entries for form in words]


@pytest.mark.parametrize(("language", "table"), [("eng", ENGLISH), ("deu", GERMAN), ("ces", CZECH)])
def test_irregular_forms(language: str, table: str) -> None:
    assert [(form, lemmatize(form, language)) for form, _ in pairs(table)] == pairs(table)


@pytest.mark.parametrize(
    ("sentence", "lemmas"),
    [
        ("He's left.", "he be leave ."),
        ("It's been a year, it's Tom's.", "it have be a year , it be Tom 's ."),
        ("Let's go; I'd like that, I'd better go.", "let we go ; I would like that , I have good go ."),
        ("My left hand saw a saw.", "my left hand see a saw ."),
        ("The sun rose on a rose.", "the sun rise on a rose ."),
        ("Tom lives; their lives and the leaves.", "Tom live ; their life and the leaf ."),
        ("He thought of a thought.", "he think of a thought ."),
        ("She leaves at 5 am; I am here.", "she leave at 5 am ; I be here ."),
        ("He would not; it won't, can't.", "he would not ; it will not , can not ."),
        ("She is finding the findings.", "she be find the finding ."),
        ("The US gave us it.", "the US give we it ."),
    ],
)
def test_english_in_context(sentence: str, lemmas: str) -> None:
    found = [token.lemma for token in tokenize(sentence, "eng").tokens]
    assert found == lemmas.split()


def test_what_is_no_word_is_its_own_lemma() -> None:
    for language in ("eng", "deu", "ces", "zho", None):
        for form in ("3,5", "!!!", "中", "x" * 500, "👍"):
            assert lemmatize(form, language) == form
    assert lemmatize("Häuser", None) == "Häuser"


def test_codes_of_languages() -> None:
    assert lemmatize("Häuser", "de") == lemmatize("Häuser", "deu") == "Haus"
    with pytest.raises(UsageError, match="unknown language 'fra'"):
        lemmatize("maisons", "fra")


@pytest.mark.parametrize("language", ["eng", "deu", "ces"])
@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(min_size=1), max_size=8))
def test_any_forms_have_lemmas(language: str, forms: list[str]) -> None:
    lemmas = lemmatize_all(forms, language)
    assert len(lemmas) == len(forms)
    assert all(lemmas)


def test_a_missing_dictionary_is_named() -> None:
    with pytest.raises(MissingDependencyError, match="English lemmas needs the package no_such_package"):
        _folder("no_such_package", "English lemmas")


def gold(path: Path) -> Iterator[list[tuple[str, str]]]:
    """Forms and gold lemmas of the sentences of a CoNLL-U file that have any."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for block in stream.read().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if line[:1].isdigit()]
            if rows and rows[0][2] != "_":
                yield [(row[1], row[2]) for row in rows]


@pytest.mark.parametrize(
    ("language", "treebank", "minimum"),
    [("eng", "ucca-eng", 0.975), ("eng", "ptg-eng", 0.945), ("ces", "ptg-ces", 0.965)],
)
def test_accuracy_on_gold_lemmas(shared: Path, language: str, treebank: str, minimum: float) -> None:
    right = total = 0
    for rows in gold(shared / "data" / treebank / "dev.conllu.gz"):
        lemmas = lemmatize_all([form for form, _ in rows], language)
        right += sum(lemma.lower() == expected.lower() for lemma, (_, expected) in zip(lemmas, rows, strict=True))
        total += len(rows)
    assert right / total >= minimum


def test_the_german_list_of_the_benchmark() -> None:
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "german_lemmas.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(rows) == 200
    assert sum(lemmatize(form, "deu") == lemma for form, lemma in rows) >= 196
