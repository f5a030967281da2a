"""The pages of a PDF, in a process of its own: ``python pdf_pages.py < file.pdf``; imports nothing of ours.

PDFium is no Python and cannot be interrupted, and a page of some kilobytes can unpack to gigabytes. Here it can be
killed, has a limit of memory, and may even crash.

Written to stdout as JSON: ``pages`` are the texts, ``count`` is how many there are in all; or ``error``.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress


def main(max_text: int, max_memory: int) -> dict[str, object]:
    """Read stdin. At most ``max_text`` characters are returned, in at most ``max_memory`` bytes."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows, and macOS has no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (max_memory, max_memory))
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(sys.stdin.buffer.read())
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pypdfium2.raw.FPDF_ERR_PASSWORD:
            return {"error": "it is encrypted and needs a password"}
        return {"error": "it is damaged or no PDF"}
    pages: list[str] = []
    room = max_text
    for number in range(len(document)):
        try:
            page = document[number]
            text = page.get_textpage()
            pages.append(text.get_text_range())
            text.close()
            page.close()
        except pypdfium2.PdfiumError:
            pages.append("")
        room -= len(pages[-1])
        if room < 0:
            break
    return {"pages": pages, "count": len(document)}


if __name__ == "__main__":
    try:
        answer = main(int(sys.argv[1]), int(sys.argv[2]))
    except MemoryError:
        answer = {"error": "it needs too much memory"}
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8"))
