"""How is second-brain used from a shell? The command ``brain``.

For: turning words on a command line into calls of ``Brain``, and what it returns into text or JSON.
Not for: deciding what is found, in which order, or what is stored (``library`` and the rooms below it).

    __main__     streams, arguments, errors and exit codes of the process
    app          the list of commands; each is imported when it is run
    options      what several commands share: global options, filters, checked values
    sources indexing search reading health evaluation      the commands
    excerpt      the lines or the section of a note that were asked for
    output       harmless text and JSON on any stream
    display      progress bars and tables (rich)
    reference    docs/reference/cli.md, from the commands themselves

Start-up time decides how ``brain search`` feels: nothing here imports ``library`` or ``rich`` before it is used.
"""
