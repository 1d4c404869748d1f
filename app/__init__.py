"""The surfaces: thin. Each parses, asks the workspace once, and renders."""
