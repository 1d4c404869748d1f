"""Screens of the workbench, each paired with a style sheet of its name."""
