"""Style sheets, scripts and icons: in memory, compressed, under an address that changes with their content.

All lie under ``/static/<digest of all>/``, so that modules import each other by their plain names and browsers may
keep everything for a year.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    data: bytes
    zipped: bytes
    media_type: str


@cache
def assets() -> dict[str, Asset]:
    """Every static file by name."""
    found = {}
    for file in resources.files(__package__).joinpath("static").iterdir():
        ending = file.name.rpartition(".")[2]
        if ending in TYPES:
            data = file.read_bytes()
            found[file.name] = Asset(data, gzip.compress(data, 9, mtime=0), TYPES[ending])
    return found


@cache
def version() -> str:
    """A digest of all of them."""
    digest = hashlib.blake2b(digest_size=6)
    for name, asset in sorted(assets().items()):
        digest.update(name.encode() + b"\0" + asset.data)
    return digest.hexdigest()


def asset_url(name: str) -> str:
    """The address of a file. Raises KeyError when there is none of this name."""
    assets()[name]
    return f"/static/{version()}/{name}"


async def serve_asset(request: Request) -> Response:
    """One file. An address of another version is answered too, but not to be kept."""
    asset = assets().get(request.path_params["name"])
    if asset is None:
        return PlainTextResponse("there is no such file", 404)
    current = request.path_params["version"] == version()
    headers = {
        "ETag": f'"{version()}"',
        "Cache-Control": "public, max-age=31536000, immutable" if current else "no-cache",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.zipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=asset.media_type)
    return Response(asset.data, headers=headers, media_type=asset.media_type)
