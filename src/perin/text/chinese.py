"""Chinese: words without spaces between them.

Segmentation takes the most probable sequence of words (unigrams), with the words and frequencies of the package jieba.
Its dictionary is coarser than the words of treebanks: it has 一个 and 看不见.  So what is a phrase by the standards of
treebanks is left out, and long words cost more than their frequency says.  A surname with one or two characters of
given names is a name (王丽), and a noun takes its plural along (孩子们), whether or not the dictionary has them.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache, lru_cache

import regex

from perin.text.dictionary import chinese_words
from perin.text.languages import word_set
from perin.text.scanner import EXTENDING, Piece

_HAN = regex.compile(r"\p{Han}")
_EXTENDS = regex.compile(EXTENDING)
_SCRIPTS = regex.compile(r"\p{Han}++|[^\p{Han}]++")
_SEGMENTED = 2.5
"""Text with spaces between its words has fewer characters than this from space to space; running text has more."""
_LONGEST = 8
_LENGTH_COSTS = (0.0, 1.5, 5.0, 8.0)
"""What a word of one, two, three, more characters costs beyond its probability (natural logarithm)."""

_DIGITS = "零〇一二两三四五六七八九十百千万亿"
_NUMERAL = rf"[{_DIGITS}几半]"
_PHRASE = regex.compile(
    rf"""
    {_NUMERAL}+(?!{_NUMERAL})[^/]+/[mtq].*         # 一个 三天
    | 第?{_NUMERAL}+(?!{_NUMERAL})[^/]{{2,}}/[^i].*  # 一朵花 第二次
    | 第{_NUMERAL}+(?!{_NUMERAL})[^/]/.*
    | [这那每某各哪此][个种位天年次周月座颗朵件条只本张双话处人地]/.*
    | 不[^/]{{1,2}}/.*                               # 不会 不知道
    | [^/][不得][^/]/[vl].*                         # 看不见
    | [^/]着/[vi].* | [^/]{{2,}}着/.* | [^/]在/v.*   # 看着 坐在
    | [^/]+[的地了吧呢吗啊]/[zludi].* | [^/]{{2,}}[的地了吧呢吗啊]/(?!ns?$).*
    | [很最太更真][^/]/.*
    | [^/]{{3,}}[里中上下出起给]/.* | [^/]{{2,}}(?:[下过]去|[下起过出]来|出去)/.*
    | (?![{_DIGITS}]+/)[^/]{{3,}}/(?:l|c|z|d|u|mq?) # 怎么办 是因为 轻轻地
    """,
    regex.VERBOSE,
)
"""Entries ``word/tag`` of the dictionary that are phrases and not words."""
_NO_PHRASES = word_set(
    """
    一些 一样 一起 一定 一直 一般 一切 一旦 一点 一下 一边 一面 一时 一向 一带 一同 一贯 一致 一再 一律
    一生 一共 一点儿 一辈子 万一 万物 万分 万岁 十分 十足 百姓 百科 千万 四周 四处 四季 四方 三角 半夜 半天
    几乎 几何 两旁 两边 八成 第一 各种 各个 各地 不过 不同 不仅 不但 不管 不断 不久 不必 不少 不如 不满
    不安 不幸 不论 不止 不禁 不料 不妨 不然 不惜 不便 不利 不平 不良 不朽 不足 不时 不停 不得不 不得了 不由得
    不至于 不动产 存在 正在 现在 内在 外在 实在 所在 自在 好在 潜在 健在 为了 除了 似的 目的 最近 最后 最初
    最终 最为 太阳 太太 太平 太空 真正 真理 真实 真相 真心 真诚 真情 真切 真空 更加 更新 更正 更改
    """
)
"""Words that look like phrases."""
_PERSONS = regex.compile(rf"(?<=[这那每某哪]|{_NUMERAL})个人")
"""Somebody who is counted, not an individual."""
_MORE_PHRASES = word_set(
    "没有 就是 总是 正是 象是 却是 真是 只是 还有 还要 想要 就要 快要 全都 的话 你好 您好 朵花 本书"
)

_SURNAMES = frozenset(
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆"
    "汪范金石廖贾夏韦付方邹孟熊秦邱江尹薛闫段雷侯史陶黎贺顾郝龚邵万钱严覃武戴莫孔汤"
)
_NAMES = 0.003
"""The share of words that are full names of people."""
_NO_NAMES = frozenset("里上下中外前后得的了不有和来去说看")
"""Characters that far more often follow a name than belong to one."""
_LEAST = 20
"""How many names must have a character for it to be one of given names."""


def segmented(text: str) -> bool:
    """Whether the text has spaces between its words.

    >>> segmented("我 有 一 本 书 。"), segmented("我有一本书。"), segmented("我有一本书。 他没有。")
    (True, False, False)
    """
    lengths = [length for chunk in text.split() if (length := len(_HAN.findall(chunk)))]
    return len(lengths) > 1 and sum(lengths) < _SEGMENTED * len(lengths)


def word_pieces(word: str) -> tuple[Piece, ...]:
    """The tokens of what stands between two spaces of a text with spaces between its words: hardly ever several."""
    return (Piece(1), Piece(2)) if word == "没有" else (Piece(len(word)),)


def pieces(run: str) -> tuple[Piece, ...]:
    """The tokens of a run of letters and digits.

    >>> run = "我们看不见3本AMR书"
    >>> ends = [piece.end for piece in pieces(run)]
    >>> [run[start:end] for start, end in zip([0, *ends], ends)]
    ['我们', '看', '不', '见', '3', '本', 'AMR', '书']
    """
    found = []
    for match in _SCRIPTS.finditer(run):
        ends = _words(match.group()) if _HAN.match(match.group()) else [match.end() - match.start()]
        found += [Piece(match.start() + end) for end in ends]
    return tuple(piece for piece in found if not _EXTENDS.match(run, piece.end))


def _words(text: str) -> list[int]:
    """The ends of the words of Chinese characters: the cheapest path, found from left to right."""
    costs = [0.0]
    starts = [0]
    for end in range(1, len(text) + 1):
        options = (
            (costs[start] + cost, start)
            for start in range(max(0, end - _LONGEST), end)
            if (cost := _cost(text[start:end])) is not None
        )
        cost, start = min(options)
        costs.append(cost)
        starts.append(start)
    ends = [len(text)]
    while starts[ends[-1]]:
        ends.append(starts[ends[-1]])
    persons = (match.start() + 1 for match in _PERSONS.finditer(text) if match.end() in ends)
    return sorted({*ends, *persons})


@lru_cache(maxsize=1 << 14)
def _cost(word: str) -> float | None:
    """The negative logarithm of a word's probability plus the cost of its length; None for anything but a word."""
    words, total = chinese_words()
    entry = words.get(word)
    if len(word) > 1 and entry is None and word[0] in _SURNAMES:
        return _cost_of_name(word)
    if len(word) > 2 and entry is None and word[-1] == "们":
        return _cost(word[:-1])
    if len(word) == 1:
        return math.log(total) - (math.log(int(entry.split()[0])) if entry else 0)
    if entry is None:
        return math.log(total) / 2 if all(character in _DIGITS for character in word) else None
    frequency, tag = entry.split()
    if _is_phrase(word, tag):
        return None
    return math.log(total) - math.log(int(frequency)) + _LENGTH_COSTS[min(len(word), len(_LENGTH_COSTS)) - 1]


def _cost_of_name(word: str) -> float | None:
    """The same for a surname and what may be a given name."""
    surnames, given = _name_characters()
    if len(word) > 3 or not all(character in given for character in word[1:]):
        return None
    shares = [surnames[word[0]] / surnames.total(), *(given[character] / given.total() for character in word[1:])]
    return -sum(map(math.log, shares)) - math.log(_NAMES)


@cache
def _name_characters() -> tuple[Counter[str], Counter[str]]:
    """How many of the names in the dictionary have a surname, and how often a character is in their given names."""
    entries = ((word, entry) for word, entry in chinese_words()[0].items() if 2 <= len(word) <= 3)
    names = [word for word, entry in entries if word[0] in _SURNAMES and entry.split()[1] == "nr"]
    given = Counter(character for name in names for character in name[1:] if character not in _NO_NAMES)
    return Counter(name[0] for name in names), Counter({each: n for each, n in given.items() if n >= _LEAST})


def _is_phrase(word: str, tag: str) -> bool:
    if word in _NO_PHRASES:
        return False
    if len(word) == 3 and word[0] in "小老大" and tag in ("n", "nr") and word[1:] in chinese_words()[0]:
        return True
    return word in _MORE_PHRASES or _PHRASE.fullmatch(f"{word}/{tag}") is not None
