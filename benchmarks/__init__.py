"""Measurements that anyone can repeat: ``python -m benchmarks.index`` and ``python -m benchmarks.calls``.

They run the installed ``mog`` as a stranger would, on corpora fetched by package name, and write docs/results/.
Not part of the wheel. What may not come in: paths or names of the machine in anything that is written down.
"""
