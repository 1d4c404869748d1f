"""What others can ask of the shop."""
