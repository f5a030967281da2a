"""Which sources, models and rules hold?

Read from ``sources.yaml``, ``models.yaml``, ``settings.yaml`` and the environment. Everything has a default, so that
nothing need be configured. What is wrong is named with file, line, the value found and the values allowed. When a
source is added or removed, only its own lines of ``sources.yaml`` change: comments, order and spelling of the rest
stay. Not for: making objects of what is named (``wiring``).
"""

from .editing import add_source, remove_source
from .files import as_named, write_atomically
from .loading import OLDER_NAMES, load, stamp
from .settings import PRIVACY_LABELS, EndpointSettings, ModelSettings, Settings, SourceSettings
from .sources import SOURCE_KEYS

__all__ = [
    "OLDER_NAMES",
    "PRIVACY_LABELS",
    "SOURCE_KEYS",
    "EndpointSettings",
    "ModelSettings",
    "Settings",
    "SourceSettings",
    "add_source",
    "as_named",
    "load",
    "remove_source",
    "stamp",
    "write_atomically",
]
