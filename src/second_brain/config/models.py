"""Reads ``models.yaml``: which model plays which role."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..models.transport import is_loopback
from ..types import Json
from .files import SettingsFile, address, choice, number, positive, variable, whole
from .settings import EndpointSettings, ModelSettings

T = TypeVar("T")

ENDPOINT_KEYS = (
    "url",
    "model",
    "privacy",
    "key",
    "timeout_s",
    "context_tokens",
    "tokens_per_day",
    "price_in",
    "price_out",
)


def models(file: SettingsFile, labels: tuple[str, ...]) -> ModelSettings:
    """The models that the file names."""
    keys = file.mapping((), file.result.value, ("embedder", "reranker", "chat"), "models.yaml")
    embedder: str | EndpointSettings = ModelSettings().embedder
    if isinstance(keys.get("embedder"), dict):
        embedder = _endpoint(file, "embedder", keys["embedder"], labels)
        if embedder.privacy != labels[-1]:
            raise file.error(
                ("embedder", "privacy"),
                f"'embedder' may be sent texts up to '{embedder.privacy}' only, and every passage is sent to it",
                f"write `privacy: {labels[-1]}` if you agree to that, or name a model that runs here",
            )
    elif "embedder" in keys:
        embedder = _name(file, "embedder", keys["embedder"])
    if not embedder:
        raise file.error(("embedder",), "'embedder' is 'none'", "allowed: e5-small (the default) or another embedder")
    reranker: str | EndpointSettings | None = None
    if isinstance(keys.get("reranker"), dict):
        reranker = _endpoint(file, "reranker", keys["reranker"], labels)
    elif "reranker" in keys:
        reranker = _name(file, "reranker", keys["reranker"]) or None
    chat = None
    if isinstance(keys.get("chat"), dict):
        chat = _endpoint(file, "chat", keys["chat"], labels)
        if not chat.model:
            raise file.error(("chat",), "'chat' names no 'model'", "write the model as the endpoint names it")
    elif "chat" in keys and _name(file, "chat", keys["chat"]):
        raise file.error(("chat",), f"'chat' is '{keys['chat']}'", "expected url, model and privacy below it, or none")
    return ModelSettings(embedder, reranker, chat)


def _name(file: SettingsFile, role: str, value: Json) -> str:
    name = file.scalar((role,), value, str, "the name of a model, or none")
    return "" if name == "none" else name


def _endpoint(file: SettingsFile, role: str, value: Json, labels: tuple[str, ...]) -> EndpointSettings:
    keys = file.mapping((role,), value, ENDPOINT_KEYS, role)

    def scalar(key: str, convert: Callable[[str], T], allowed: str, default: T) -> T:
        return file.scalar((role, key), keys[key], convert, allowed) if key in keys else default

    url = scalar("url", address, "http://... or https://...", "")
    if not url:
        raise file.error((role,), f"'{role}' has no 'url'", f"keys: {', '.join(ENDPOINT_KEYS)}")
    if "privacy" not in keys and not is_loopback(url):
        raise file.error(
            (role,),
            f"'{role}' sends texts to another machine and does not say which",
            f"add `privacy:` with the highest label that may be sent: {', '.join(labels)}",
        )
    unset = EndpointSettings(url)
    return EndpointSettings(
        url=url,
        model=scalar("model", str, "the model as the endpoint names it", ""),
        privacy=scalar("privacy", choice(*labels), ", ".join(labels), labels[-1]),
        key_variable=scalar("key", variable, "the name of an environment variable, like OPENAI_API_KEY", ""),
        timeout_s=scalar("timeout_s", number(0.0), "a number of seconds above 0", unset.timeout_s),
        context_tokens=scalar("context_tokens", positive, "a whole number of tokens", unset.context_tokens),
        tokens_per_day=scalar("tokens_per_day", whole, "a whole number of tokens, 0 for no cap", 0),
        price_in=scalar("price_in", number(0.0, inclusive=True), "money for a million tokens", 0.0),
        price_out=scalar("price_out", number(0.0, inclusive=True), "money for a million tokens", 0.0),
    )
