"""Coming in and going out, with a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from second_brain.config import load
from second_brain.servers.tokens import add, remove


@pytest.fixture
def stranger(chromium: Any, served: Any) -> Any:
    """A page of a browser that nobody knows."""
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(served.address + "/?q=pump")
    yield page
    context.close()


def test_the_one_time_link_lets_in_once(look: Any, served: Any, stranger: Any) -> None:
    """The first browser is in, its address holds no key; a second one is told what to do."""
    assert look("/").url == served.address + "/"
    stranger.goto(served.link)
    stranger.get_by_text("The link was used already").wait_for()
    assert "once=" not in stranger.url


def test_a_token_is_typed_and_leads_to_what_was_asked_for(served: Any, indexed: Any, stranger: Any, look: Any) -> None:
    """By keyboard alone. It stands in no address; when it is removed, the session is over."""
    settings = load(indexed / "home")
    token = add(settings, "browser", "personal", changes=False)
    try:
        assert stranger.url.startswith(served.address + "/login?next=")
        look.accessible(stranger)
        stranger.keyboard.type("sb_wrong")
        stranger.keyboard.press("Enter")
        stranger.get_by_role("alert").wait_for()
        stranger.keyboard.type(token)
        stranger.keyboard.press("Enter")
        stranger.wait_for_url(served.address + "/?q=pump")
        assert stranger.locator(".hit").count()
    finally:
        remove(settings, "browser")
    stranger.get_by_role("searchbox").fill("valve")
    stranger.wait_for_url("**/login?next=**")


def test_logging_out_in_one_tab_ends_the_other(chromium: Any, served: Any, indexed: Any, stranger: Any) -> None:
    """What it asks next leads to the login page."""
    settings = load(indexed / "home")
    token = add(settings, "tabs", "personal", changes=False)
    try:
        stranger.get_by_label("Token").fill(token)
        stranger.keyboard.press("Enter")
        stranger.wait_for_url(served.address + "/?q=pump")
        other = stranger.context.new_page()
        other.goto(served.address + "/?q=valve")
        assert other.locator(".hit").count()
        stranger.get_by_label("Display and session").click()
        stranger.get_by_role("button", name="Log out").click()
        stranger.wait_for_url(served.address + "/login")
        other.get_by_role("searchbox").fill("float switch")
        other.wait_for_url("**/login?next=**")
        for page in (stranger, other):
            assert page.get_by_label("Token").is_visible()
            assert page.locator(".hit").count() == 0
        stranger.goto(served.address + "/?q=pump")
        assert stranger.get_by_label("Token").is_visible(), "what was shown before is not shown again"
    finally:
        remove(settings, "tabs")


def test_light_and_language_are_chosen_in_the_menu(look: Any) -> None:
    """The page comes back as it was, in the other language and light, and stays so."""
    page = look("/?q=pump")
    page.get_by_label("Display and session").click()
    page.get_by_role("button", name="日本語").click()
    page.locator("html[lang=ja]").wait_for()
    page.get_by_label("表示とセッション").click()
    page.get_by_role("button", name="暗", exact=True).click()
    page.locator("html[data-theme=dark]").wait_for()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(23, 25, 22)"
    assert page.url.endswith("/?q=pump")
