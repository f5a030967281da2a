"""Words of a question that say nothing about its answer.

Short on purpose: words that ask, words of address, the most frequent glue. What is also a keyword of some
language (for, if, not, with, from) stays, and so do Japanese pairs of hiragana, but for the polite endings of
sentences and について. Indexes keep every word, so that phrases work. nDCG@10 of FTS5's bm25, two halves of the
questions:

                          jsquad-ja       xquad-zh        xquad-en        cosqa-dev
    this list             .9559 .9496     .9831 .9622     .9784 .9606     .3900 .3933
    none                  .9559 .9495     .9770 .9618     .9761 .9592     .3986 .3953
    140 English words                                     .9782 .9596     .3820 .3824
    no pair of hiragana   .9544 .9488     .9831 .9622

について: the questions of jsquad-ja (tune) followed by it have .9503 without its first pairs and .9483 with them,
followed by について教えて .9500 and .9456, as they are .9495 either way. The pairs of どうやって cost .001 there, those
of 教えて and したっけ change less.

The loss on cosqa-dev (0.005, within chance) is the price of not reading the longest lists in every search.
"""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = """
    what which who whom whose when where why how
    do does did doing done has have had having can could will would shall should may might must
    don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't shouldn't
    i me my we our ours you your yours he him his she her hers it its they them their theirs
    i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll he'd he'll she'd she'll
    they're they've they'd they'll it'll
    is are was were be been being am isn't aren't wasn't weren't
    a an the this that these those there here of to and
"""
_JAPANESE: Final = """
    です ます すか ませ まし した しょ ょう うか でし くだ ださ さい
    は が の を に へ と も で や か ね よ
    につ つい
    何 何で 誰 どこ どの どん なぜ いつ どう どれ
"""
_CHINESE: Final = "什么 什 么 怎么 怎 哪 哪个 哪些 哪里 为什 谁"

STOPWORDS: Final = frozenset(f"{_ENGLISH} {_JAPANESE} {_CHINESE}".split())
"""Folded words, and terms of unspaced scripts."""
