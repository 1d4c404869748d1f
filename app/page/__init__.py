"""One page that says everything: what is indexed, what is believed, what was walked. Written by ``mog export html``."""
