"""Which language is a text written in? By its script, else by a vote of the most frequent words.

A vote of function words needs no model: a paragraph of any European language holds many of them.
"""

from __future__ import annotations

import re
from typing import Final

from .scripts import HAN

SAMPLE: Final = 4_096
"""Characters that are looked at."""

LEAST: Final = 3
"""With fewer different words that tell, a text in Latin letters is of no language."""

LETTERS: Final = 256
"""Letters, spread over the sample, that tell the script."""

_WORDS: Final = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to in is was that it for on with as are be this by at from or have an they which you not but"
        " his has had were their been will would can there what when if we how",
        "de": "der die das und ist nicht ein eine einen einem den dem des zu im in von mit sich auf für auch als wird"
        " sind es er sie wir ich wie aus bei nach oder aber wurde werden haben hat war noch nur über zum zur dass kann",
        "fr": "le la les des et est un une du en que qui dans pour pas sur au avec ce il elle sont par plus nous vous"
        " je mais ou aux cette ses son être ont leur été comme fait tout",
        "es": "el la los las de que en un una es por con para no se del al lo como más pero sus su le ya este sí"
        " porque esta son entre cuando muy sin sobre también fue había está hay",
        "it": "il di che la un una è per non sono con del della dei le si da in al gli nel più anche come ma alla lo"
        " delle questo ha essere nella dal sul ci era",
        "pt": "os as de que do da em um uma para com não é por na se mais dos das ao como mas foi pelo são você"
        " também já está isso ou seu sua ele muito nos",
        "nl": "de het een en van is dat op te in voor niet met zijn er aan die ook als maar om bij naar uit dan nog"
        " wordt wel door over ze hij kan geen deze worden heeft was",
        "sv": "och att det som en på är av för med till den inte ett har om de jag var han men vi kan från så hade där"
        " sig ska eller när också efter detta",
        "da": "og at det som en på er af for med til den ikke et har om de jeg var han men vi kan fra så havde hvor"
        " sig skal eller når også efter dette blev",
        "no": "og at det som en på er av for med til den ikke et har om de jeg var han men vi kan fra så hadde hvor"
        " seg skal eller når også etter dette ble",
        "pl": "na się nie do to że jest jak po ale za od są tym dla przez tylko być już oraz był jego które lub może",
        "cs": "se na je že to do ve jsou jako pro ale za by po který není také nebo podle být jeho při",
        "fi": "ja on ei että se oli hän mutta ovat kun niin myös kuin tai joka sen ole voi sitä mitä tämä vain",
        "tr": "ve bir bu da de için ile çok olarak daha en gibi olan ne kadar sonra ama değil olduğu mi var her",
        "id": "yang dan di dengan untuk dari ini dalam pada adalah tidak itu ke akan juga oleh sebagai atau ada bisa",
        "vi": "và của là có không một cho được các trong với những người khi đã này để tôi về từ",
    }.items()
}
"""The words that tell; no single letters, which are names in code and formulas."""
_EVERY_WORD: Final = frozenset[str]().union(*_WORDS.values())

_FENCE: Final = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_LATIN: Final = re.compile("[a-zA-Z]")
_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_CHINESE: Final = re.compile(f"[{HAN}]")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_SCRIPTS: Final = (
    ("ru", re.compile("[\u0430-\u044f\u0451]")),
    ("el", re.compile("[\u03b1-\u03c9]")),
    ("ar", re.compile("[\u0621-\u064a]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("hi", re.compile("[\u0904-\u0939]")),
    ("th", re.compile("[\u0e01-\u0e2e]")),
)
_UKRAINIAN: Final = re.compile("[іїєґ]")

_DENSITY: Final = 3
"""A character of Japanese, Chinese or Korean says as much as so many Latin letters."""


def detect_language(text: str) -> str:
    """The ISO 639-1 code of the language of most of the text, or '' if that cannot be told.

    Only the first 4,096 characters count, without code fences. Of languages that share a script the most widely read
    one is named (``ru`` for Cyrillic without Ukrainian letters).
    """
    sample = text[:SAMPLE]
    if "```" in sample or "~~~" in sample:
        sample = _FENCE.sub(" ", text[: 2 * SAMPLE])[:SAMPLE]
    return ("" if sample.isascii() else _by_script(sample)) or _by_words(sample)


def _by_script(text: str) -> str:
    """The language of the script that most is written in; '' for Latin."""
    letters = text[:: max(len(text) // LETTERS, 1)]
    latin = len(_LATIN.findall(letters))
    kana, han, hangul = (len(pattern.findall(letters)) for pattern in (_KANA, _CHINESE, _HANGUL))
    if (kana + han + hangul) * _DENSITY > latin:
        if hangul > kana + han:
            return "ko"
        return "ja" if kana * 20 > han else "zh"
    for language, own in _SCRIPTS:
        if len(own.findall(letters)) > latin:
            return "uk" if language == "ru" and len(_UKRAINIAN.findall(letters)) * 50 > len(letters) else language
    return ""


def _by_words(text: str) -> str:
    """The language most of whose telling words occur; '' when there are few, or as many of another language."""
    found = _EVERY_WORD.intersection(text.lower().split())
    if len(found) < LEAST:
        return ""
    (most, language), (second, _) = sorted(((len(found & own), name) for name, own in _WORDS.items()), reverse=True)[:2]
    return language if most >= LEAST and most > second else ""
