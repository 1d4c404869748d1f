"""Code layer: from bytes on disk to facts and links. Knows files and grammars, not the reason layer."""
