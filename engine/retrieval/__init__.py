"""Finding the smallest sufficient context: terms, ranking, spread, zoom, packs. Reads code and store; knows no beliefs."""
