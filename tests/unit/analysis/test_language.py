"""The language of a passage, from its script or its most frequent words."""

from __future__ import annotations

import pytest

from second_brain.analysis.language import detect_language

SAMPLES = {
    "en": "The pump in the second hall was replaced on Monday because its seal leaked and nobody had noticed it.",
    "de": "Die Pumpe in der zweiten Halle wurde am Montag ersetzt, weil die Dichtung nicht mehr dicht war.",
    "fr": "La pompe de la deuxième salle a été remplacée lundi, parce que le joint n'était plus étanche.",
    "es": "La bomba de la segunda sala fue cambiada el lunes porque la junta ya no era estanca y había agua.",
    "it": "La pompa della seconda sala è stata sostituita lunedì perché il giunto non era più a tenuta.",
    "pt": "A bomba da segunda sala foi trocada na segunda-feira porque a junta não estava mais boa e os tubos também.",
    "nl": "De pomp in de tweede hal is op maandag vervangen, omdat het niet meer dicht was en er water uit kwam.",
    "sv": "Pumpen i den andra hallen byttes på måndag för att tätningen inte var bra och det kom vatten från den.",
    "da": "Pumpen i den anden hal blev skiftet på mandag, fordi den ikke var tæt, og der kom vand fra den efter.",
    "pl": "Pompa w drugiej hali została wymieniona w poniedziałek, bo nie była już szczelna przez noc.",
    "ru": "Насос во втором зале заменили в понедельник, потому что уплотнение протекало.",
    "uk": "Насос у другій залі замінили в понеділок, бо ущільнення протікало, і це було видно їм.",
    "el": "Η αντλία στη δεύτερη αίθουσα αντικαταστάθηκε τη Δευτέρα.",
    "ja": "第二倉庫の排水ポンプを月曜に交換した。",
    "zh": "第二仓库的排水泵在星期一更换了，因为密封件漏水。",
    "ko": "두 번째 창고의 배수 펌프를 월요일에 교체했다.",
    "ar": "تم استبدال المضخة في القاعة الثانية يوم الاثنين.",
    "he": "המשאבה באולם השני הוחלפה ביום שני.",
    "th": "เปลี่ยนปั๊มน้ำในห้องโถงที่สองเมื่อวันจันทร์",
    "hi": "दूसरे हॉल का पंप सोमवार को बदला गया।",
}


@pytest.mark.parametrize(("language", "text"), SAMPLES.items())
def test_a_sentence_is_recognized(language: str, text: str) -> None:
    """Alone, behind a code fence, and with some words of another script in it."""
    assert detect_language(text) == language
    fence = "```python\nfor the_pump in what.is_not(there): return with_and(to, that, from_have, by, this)\n```\n"
    assert detect_language(fence + text) == language
    assert detect_language(f"{text} {text} (see GitHub, API: 排水)") == language


@pytest.mark.parametrize(
    "text", ["", "42", "pump", "x = f(a, b)\ny = x ** 2\n", "a a a a o o i i v v", "https://example.org/a", "🙂 🙂"]
)
def test_what_is_too_little_to_tell_has_no_language(text: str) -> None:
    """Nothing, numbers, a word, code, letters, addresses."""
    assert detect_language(text) == ""


def test_japanese_with_english_terms_is_japanese_and_english_that_quotes_it_is_english() -> None:
    """The script in which most is said decides."""
    assert detect_language("GitHub ActionsでDocker imageをbuildするときのcache設定について調べた。") == "ja"
    assert detect_language(SAMPLES["en"] + " The sign said 排水ポンプ, which is what it was.") == "en"


def test_only_the_beginning_is_read() -> None:
    """A long text costs no more than its first characters."""
    assert detect_language((SAMPLES["en"] + " ") * 50 + SAMPLES["ja"] * 1000) == "en"
