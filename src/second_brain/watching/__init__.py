"""How does the index follow files as they change?

    watcher    the loop: what changed is compared, then given vectors, while settings and disks come and go
    pacing     when a burst of changes is over, so that a hundred saves are a few runs
    listening  a thread that waits for the system to tell of changes (the one place that knows watchfiles)
    drives     which folders lie where the system tells nothing: network drives
    presence   one watcher a home, and who it is

Useful for: `brain watch`, and a server that keeps its own index fresh.
Not for: deciding what changed (``ingest``): whatever happens, the source is compared as a whole, so that nothing is
lost when events are.
"""
