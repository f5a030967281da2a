"""When does work run that nobody starts by hand, and what came of it?

    jobs       which jobs a home has, when each runs, and the command line that runs it
    plan       what is about to be written and called, as a value: shown first, then done
    systemd    user timers of Linux
    launchd    agents of macOS
    cron       lines in the user's crontab
    tasks      what to type on Windows
    forms      which of these this machine has, and how the jobs of a home stand in it
    running    one run of one job: alone, in a log, at low priority, step by step

Useful for: bringing the index up to date while nobody looks. Every home has jobs of its own.
Not for: what a step does (``library``, ``distill``), or following files as they change (``watching``).
"""
