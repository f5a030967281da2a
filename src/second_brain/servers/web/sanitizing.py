"""HTML without anything that could act: no script, style, form, frame or handler, no address but ours and the web's.

ammonia reads as a browser does and writes anew what is allowed (through ``nh3``, imported nowhere else). Identifiers
get a prefix, so that none is that of the page; classes are only those of ``rendering``.
"""

from __future__ import annotations

import re
from functools import cache

import nh3

ID_PREFIX = "at-"

TAGS = frozenset(
    "a abbr b blockquote br cite code col colgroup dd del details div dl dt em figcaption figure h2 h3 h4 h5 h6 hr i"  # noqa: SIM905
    " img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul"
    " var".split()
)
CLASSES = frozenset(
    "here embed missing out dead tag code math block-math callout title remote folder footnote ref task done scroll"  # noqa: SIM905
    " right center note tip info warning danger quote example success question failure bug todo abstract".split()
)
_ATTRIBUTES = {
    "*": {"id", "lang", "title"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height", "loading"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "details": {"open"},
    "pre": {"data-lang", "tabindex"},
    "div": {"tabindex"},
    "span": {"role", "aria-label"},
}
_IMAGE = re.compile(r'<img(?: [\w-]+="[^"]*")*>')  # as ammonia writes it: no value holds a quotation mark
_ELSEWHERE = re.compile(r' src="(?!/file/)[^"]*"')


def harmless(html: str, *, remote_images: bool = False) -> str:
    """The HTML as it may stand in a page. Pictures of other hosts stay only with ``remote_images``."""
    cleaned = _cleaner().clean(html)
    return cleaned if remote_images else _IMAGE.sub(lambda image: _ELSEWHERE.sub("", image[0]), cleaned)


@cache
def _cleaner() -> nh3.Cleaner:
    classes = {f"n-{name}" for name in CLASSES}
    return nh3.Cleaner(
        tags=set(TAGS),
        clean_content_tags={"script", "style", "template", "noscript", "title", "xmp", "noembed", "noframes"},
        attributes=_ATTRIBUTES,
        allowed_classes=dict.fromkeys(TAGS, classes),
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        id_prefix=ID_PREFIX,
    )
