"""What does the whole look like, and where does it contradict itself?

For: the neighbourhood of a note and what stands out among all, the days of a month, notes that are nearly the same,
statements that do not fit each other. Not for: answering a question (``answering``), nor for changing anything.
Everything is asked of ``Brain.visible``, so that nobody is shown, or counted, what they may not see.

    neighbourhood   which notes are linked, hubs, orphans, links that lead nowhere
    entities        the knowledge graph as a drawing
    timeline        days, months, sessions with their summaries
    likenesses      pairs of notes that are nearly the same: the arithmetic
    review          those pairs for a view, made once and kept in step
    kept            what is dear to make, made once for a view
    comparing       two notes side by side
    contradictions  decisions, lessons, names and facts that do not fit each other
"""
