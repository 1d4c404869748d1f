"""Suites that measure mog against baselines on the same tasks, and their reports. Nothing else of the engine calls them."""
