"""What agents and people want kept: notes, the working set of a session, handles. Stands on beliefs and retrieval."""
