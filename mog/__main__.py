"""``python -m mog``: the same door as the ``mog`` command, nothing else."""

from mog.app.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
