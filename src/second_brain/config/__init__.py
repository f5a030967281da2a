"""Which sources, models and rules hold?

Read from ``sources.yaml``, ``models.yaml``, ``settings.yaml`` and the environment. Everything has a default, so that
nothing need be configured. What is wrong is named with file, line, the value found and the values allowed. When a
source is added or removed, only its own lines of ``sources.yaml`` change: comments, order and spelling of the rest
stay. Not for: making objects of what is named (``wiring``).
"""

from .editing import add_source, raise_privacy, remove_source
from .files import as_named, write_atomically
from .loading import OLDER_NAMES, load, stamp
from .settings import (
    DEFAULT_COLLECTION,
    PRIVACY_LABELS,
    SESSION_KINDS,
    Daily,
    EndpointSettings,
    Every,
    ModelSettings,
    RemoteSettings,
    ScheduleSettings,
    Settings,
    SourceSettings,
)
from .sources import SOURCE_KEYS

__all__ = [
    "DEFAULT_COLLECTION",
    "OLDER_NAMES",
    "PRIVACY_LABELS",
    "SESSION_KINDS",
    "SOURCE_KEYS",
    "Daily",
    "EndpointSettings",
    "Every",
    "ModelSettings",
    "RemoteSettings",
    "ScheduleSettings",
    "Settings",
    "SourceSettings",
    "add_source",
    "as_named",
    "load",
    "raise_privacy",
    "remove_source",
    "stamp",
    "write_atomically",
]
