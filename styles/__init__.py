"""Style sheets and themes; no code but the theme tables."""
