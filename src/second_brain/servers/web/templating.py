"""The templates of the pages. Everything that is put into one is escaped, and what is not seen in it is shown."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Markup

from ...moments import local
from .assets import asset_url
from .visible import visible


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.globals["asset"] = asset_url
    environment.filters["day"] = _day
    return environment


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _day(moment: datetime) -> str:
    return local(moment).date().isoformat()


def filled(template: str, values: dict[str, Any]) -> str:
    """A template with its values in it."""
    return _environment().get_template(template).render(values)


def inert(html: str) -> Markup:
    """HTML that was made harmless (``sanitizing``), for a template to take as it is."""
    return Markup(html)
