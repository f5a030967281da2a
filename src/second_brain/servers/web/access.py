"""Coming in and going out: the one-time link, the page where a token is typed, and what a visitor chooses to see.

A token is typed into a form and never stands in an address. The one-time link leads to a page whose form uses it up,
so that a program that only looks at addresses (a preview, a scanner) does not.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from ..tokens import Token, matching, tokens
from .page import THEMES, YEAR_S, Page, Visit, cookie_name, own_path, set_cookie
from .strings import LANGUAGES
from .visitors import LONGEST_S, new_key


def login_path(key: str) -> str:
    """The path of the one-time link with this key (``Visitors.link_key``)."""
    return f"/login?once={quote(key)}"


def show_login(visit: Visit) -> Response:
    """The page where a token is typed, or that uses up a one-time link."""
    if visit.who is not None and not visit.argument("once"):
        return visit.go(own_path(visit.argument("next", "/")))
    return _form(visit, once=visit.argument("once"), back=own_path(visit.argument("next", "/")))


def log_in(visit: Visit) -> Response:
    """Begin a session for whoever typed a token, or came by the one-time link."""
    once, typed = visit.form.get("once", ""), visit.form.get("token", "").strip()
    back = own_path(visit.form.get("next", "/"))
    token: Token | None = None
    if once:
        if not visit.house.visitors.use_link(once):
            return _form(visit, back=back, problem=visit.t("access.link.used"), status=403)
    else:
        token = matching(tokens(visit.house.brains.seen_by("").settings), typed)
        if token is None:
            return _form(visit, back=back, problem=visit.t("access.token.unknown"), status=403)
    visit.house.visitors.end(visit.key)
    response = visit.go(back)
    key = visit.house.visitors.begin(token)
    set_cookie(response, visit.request, cookie_name(visit.request), key, longest_s=LONGEST_S)
    return response


def log_out(visit: Visit) -> Response:
    """End the session, and let the browser forget what it keeps of it."""
    visit.house.visitors.end(visit.key)
    response = visit.go("/login")
    response.delete_cookie(cookie_name(visit.request), path="/", httponly=True, samesite="strict")
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response


def prefer(visit: Visit) -> Response:
    """Keep which language and which light the visitor wants."""
    response = visit.go(own_path(visit.form.get("next", "/")))
    for name, allowed in (("language", LANGUAGES), ("theme", THEMES)):
        chosen = visit.form.get(name, "")
        if chosen in allowed:
            set_cookie(response, visit.request, f"brain-{name}", chosen, longest_s=YEAR_S)
    return response


def _form(visit: Visit, *, once: str = "", back: str, problem: str = "", status: int = 200) -> Response:
    fresh = not visit.key
    if fresh:  # the form needs a key to prove that it comes from here
        visit.key = new_key()
    response = visit.show("login.html", status, once=once, back=back, problem=problem)
    if fresh:
        set_cookie(response, visit.request, cookie_name(visit.request), visit.key)
    return response


PAGES = (
    Page("/login", show_login, public=True),
    Page("/login", log_in, methods=("POST",), public=True),
    Page("/logout", log_out, methods=("POST",), public=True),
    Page("/preferences", prefer, methods=("POST",), public=True),
)
