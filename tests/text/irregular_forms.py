"""Irregular forms and their lemmas, the ones that every grammar lists."""

ENGLISH_VERBS = """
be was were been am is are; have has had having; do does did done doing; go goes went gone going; say said; make made;
know knew known; think thought; take took taken; see seen; come came; give gave given; find finds finding; tell told;
become became; feel felt; leave leaving; put putting; mean meant; keep kept; let letting; begin began begun;
show shown; hear heard; run ran running; hold held; bring brought; write wrote written; sit sat; stand stood; lose lost;
pay paid; meet met; speak spoke spoken; lead led; read reading; grow grew grown; win won; buy bought; send sent;
fall fell fallen; cut cutting; sell sold; drive drove driven; break broke broken; eat ate eaten; choose chose chosen;
draw drew drawn; fly flew flown; forget forgot forgotten; freeze froze frozen; get got gotten; hide hid hidden;
ring rang rung; rise rose risen; shake shook shaken; sing sang sung; sink sank sunk; sleep slept; steal stole stolen;
swear swore sworn; swim swam swum; teach taught; tear tore torn; throw threw thrown; wake woke woken; wear wore worn;
build built; burn burnt; catch caught; deal dealt; dig dug; fight fought; hang hung; hurt hurting; lend lent;
shine shone; shoot shot; shut shutting; spend spent; stick stuck; strike struck; sweep swept; understand understood;
lie lying; die dying; try tries tried trying; stop stopped stopping; use used using
"""
ENGLISH_NOUNS = """
child children; man men; woman women; foot feet; tooth teeth; goose geese; mouse mice; knife knives;
life lives; wife wives; wolf wolves; half halves; city cities; box boxes; church churches; bus buses; potato potatoes;
hero heroes; analysis analyses; crisis crises; phenomenon phenomena; criterion criteria; datum; thief thieves
"""
ENGLISH_OTHER = "good better best; bad worse worst; far farther; big bigger biggest; happy happier happiest; he him; they them"

GERMAN_VERBS = """
backen gebacken; befehlen befahl befohlen; beginnen begann begonnen; beißen biss gebissen; biegen bog gebogen;
bieten bot geboten; binden band gebunden; bitten bat gebeten; blasen blies; bleiben blieb geblieben; brechen brach gebrochen;
brennen brannte gebrannt; bringen brachte gebracht; denken dachte gedacht; empfehlen empfahl empfohlen; essen aß gegessen;
fahren fuhr gefahren; fallen fiel; fangen fing gefangen; finden fand gefunden; fliegen flog geflogen; fliehen floh geflohen;
fließen floss geflossen; frieren fror gefroren; geben gab gegeben; gehen ging gegangen; gelingen gelang gelungen;
gelten galt gegolten; genießen genoss genossen; geschehen geschah; gewinnen gewann gewonnen; gießen goss gegossen;
graben grub gegraben; greifen griff gegriffen; haben hatte gehabt; halten hielt gehalten; hängen hing gehangen;
heben hob gehoben; heißen hieß geheißen; helfen half geholfen; kennen kannte gekannt; klingen klang geklungen;
kommen kam gekommen; kriechen kroch gekrochen; laden lud geladen; lassen ließ gelassen; laufen lief gelaufen;
leiden litt gelitten; leihen lieh geliehen; lesen las gelesen; liegen lag gelegen; lügen log gelogen; nehmen nahm genommen;
nennen nannte genannt; pfeifen pfiff gepfiffen; raten riet; reißen riss gerissen; reiten ritt geritten;
rennen rannte gerannt; riechen roch gerochen; rufen rief gerufen; scheinen schien geschienen; schieben schob geschoben;
schießen schoss geschossen; schlafen schlief geschlafen; schlagen schlug geschlagen; schließen schloss geschlossen;
schneiden schnitt geschnitten; schreiben schrieb geschrieben; schreien schrie geschrien; schweigen schwieg geschwiegen;
schwimmen schwamm geschwommen; sehen sah gesehen; sein war gewesen; senden sandte gesandt; singen sang gesungen;
sinken sank gesunken; sitzen saß gesessen; sprechen sprach gesprochen; springen sprang gesprungen; stehen stand gestanden;
stehlen stahl gestohlen; steigen stieg gestiegen; sterben starb gestorben; stoßen stieß gestoßen; streiten stritt gestritten;
tragen trug getragen; treffen traf getroffen; treiben trieb getrieben; treten trat getreten; trinken trank getrunken;
tun tat getan; vergessen vergaß; verlieren verlor verloren; verschwinden verschwand verschwunden; wachsen wuchs gewachsen;
waschen wusch gewaschen; werden wurde geworden; werfen warf geworfen; wiegen wog gewogen; wissen wusste gewusst;
ziehen zog gezogen; zwingen zwang gezwungen
"""
CZECH = """
být jsem jsi je jsme jste jsou byl byla bylo byli; mít má měl mají; jít jde šel šla šli; chtít chce chtěl; moci může mohl;
vědět ví věděl; říci řekl; vidět vidí viděl; dát dal; člověk lidé lidi; dítě děti; rok roku let; den dne dny;
dobrý lepší; velký větší; malý menší; špatný horší; dům domu domy; pes psa psi; já mě mi; on ho mu
"""


def pairs(table: str) -> list[tuple[str, str]]:
    """Form and lemma; the first word of each entry is the lemma, and a form of itself."""
    entries = [entry.split() for entry in table.split(";")]
    return [(form, words[0]) for words in entries for form in words]
