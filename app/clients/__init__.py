"""Programs around mog that call it: configuration files of agent clients, git hooks, what a new agent session is told first.

Who calls: ``app/cli/mcp.py`` and ``app/cli/hook.py``. What may not come in: the protocol, the environment, text for terminals.
"""
