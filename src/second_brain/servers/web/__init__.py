"""How does a person look at their memory in a browser? The pages of ``brain serve``.

For: searching as one types, reading notes and sessions, seeing what they are linked with, from any device that may ask.
Not for: deciding what is found or shown to whom (``library``); agents and programs have ``/mcp`` and ``/api``.

Pages work without JavaScript; with it they answer while one types. Nothing is fetched from any other host, and what
notes contain is shown, never run.

    site        all pages of a server, as routes
    page        one request: who asks, in which language, with which view of the brain; and the answer's headers
    visitors    who has logged in, in memory
    access      the one-time link, the login page, logging out, the switches for light and language
    strings     what the pages say, in English and Japanese
    templating  the templates (jinja2, imported nowhere else)
    assets      style sheets and scripts, compressed, under names that change with their content
    visible     characters that are not seen, shown as marks
    asking      an address as a question with filters, and back
    searching   the search page and the fragments that it fetches as one types
    signals     why a hit was found, as bars
    reading     a note with its outline, links, properties and neighbours
    links       where the links of a note lead
    rendering   Markdown as inert HTML with an anchor at each block
    sanitizing  HTML without anything that could act (nh3, imported nowhere else)
    conversation  a session as a conversation, tool calls folded
    parts       long notes in parts, so that none is slow to show
    properties  what a note says of itself, as rows
    files       pictures of the vault, the text of a note as it is
    map         notes and entities as a drawing and a list; hubs, orphans, broken links
    timeline    twelve months in squares, and a month day by day
    health_page what is indexed, how fresh and good it is, and what would mend it
    review      notes that are nearly the same, and what does not fit each other
    plots       lines over time as coordinates
    dates       days and months in words
    paging      long lists in sheets
    opening     the note in Obsidian, an editor, a file manager
"""
