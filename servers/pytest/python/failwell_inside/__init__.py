"""What runs inside a project's own Python. Nothing here may raise into pytest, warn, or write into the project."""
