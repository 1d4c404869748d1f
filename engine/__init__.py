"""The engine: graph, index, beliefs. No terminal, no MCP, no HTTP; it knows no surface."""
