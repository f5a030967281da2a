"""I have a question as somebody typed it; what is to be searched, and where?

For: taking fields (``type:meeting``) and words of time ("last week", 先月) out of a question, so that what is left
can be compared with notes word by word.
Not for: terms (``analysis``), deciding which documents pass (``index``) or come first (``ranking``). Pure: the
question, the present and the names that exist in; the same answer every time.
"""

from .fields import Known
from .question import Understanding, understand

__all__ = ["Known", "Understanding", "understand"]
