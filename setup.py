"""The one build step that pyproject.toml cannot state: the root GRAPH.md travels inside the package as mog/GRAPH.md.

An editable install copies nothing; there the engine reads the file at the root.
"""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildPy(build_py):
    """Copy the ontology beside the package's own files."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            copyfile(ROOT / "GRAPH.md", self._ontology())

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """All files of the build, the copied one included."""
        return [*super().get_outputs(include_bytecode), str(self._ontology())]

    def _ontology(self) -> Path:
        return Path(self.build_lib) / "mog" / "GRAPH.md"


setup(cmdclass={"build_py": BuildPy})
