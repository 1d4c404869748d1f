"""Drills: predict what falls with an assumption, reveal it, repair it; all on a copy of what is believed. Knows no surface."""
