"""The reason layer: what people and agents believe about a codebase, on what grounds, and what falls with what."""
