"""The grammars that come with the installation: one wheel a language. A table and nothing else, so that looking costs nothing."""

from __future__ import annotations

# language → (distribution, module, function that returns the language)
WHEELS: dict[str, tuple[str, str, str]] = {
    "python": ("tree-sitter-python", "tree_sitter_python", "language"),
    "javascript": ("tree-sitter-javascript", "tree_sitter_javascript", "language"),
    "typescript": ("tree-sitter-typescript", "tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree-sitter-typescript", "tree_sitter_typescript", "language_tsx"),
    "go": ("tree-sitter-go", "tree_sitter_go", "language"),
    "rust": ("tree-sitter-rust", "tree_sitter_rust", "language"),
    "java": ("tree-sitter-java", "tree_sitter_java", "language"),
    "c": ("tree-sitter-c", "tree_sitter_c", "language"),
    "cpp": ("tree-sitter-cpp", "tree_sitter_cpp", "language"),
    "csharp": ("tree-sitter-c-sharp", "tree_sitter_c_sharp", "language"),
    "ruby": ("tree-sitter-ruby", "tree_sitter_ruby", "language"),
    "php": ("tree-sitter-php", "tree_sitter_php", "language_php"),
    "bash": ("tree-sitter-bash", "tree_sitter_bash", "language"),
    "toml": ("tree-sitter-toml", "tree_sitter_toml", "language"),
    "dockerfile": ("tree-sitter-containerfile", "tree_sitter_containerfile", "language"),
}
