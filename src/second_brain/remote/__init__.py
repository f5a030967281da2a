"""How does a brain on another machine answer as if it were here?

For: a thin process on a workstation, which asks a box over HTTP (``brain``, ``connection``), shows the box's files
where they lie here (``paths``, ``reading``), keeps answers for the time when the box cannot be reached (``answers``)
and sends it the files of this machine (``sending``); and for the box, where such files are kept (``receiving``).
Not for: what is said between the two (``wire``), nor the box's endpoints (``servers.api``).

A process that only asks imports no database, no model and no numpy.
"""
