"""Import root of mog. Only the version lives here; the code is in ``mog.engine``, ``mog.app``, ``mog.widgets``."""

__version__ = "0.1.0"
