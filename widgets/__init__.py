"""Reusable Textual widgets. They know rows and cells (``view.py``), never the engine or the app.

Who calls: ``app/tui`` composes them; ``view`` and ``fit`` also serve the plain-text twins, so they import no toolkit.
What may not come in: colours (``ink.py`` looks roles up in the theme), questions, and imports at package level.
"""
