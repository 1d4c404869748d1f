"""The workbench: screens and workers. It asks the workspace and hands rows to widgets."""
