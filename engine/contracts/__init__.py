"""Contracts: rule packs, which are data, map files and symbols to the surfaces they stand behind (routes, models, commands, …)."""
