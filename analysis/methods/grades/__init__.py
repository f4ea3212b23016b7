"""Grades of responses (docs/methods/grades.md)."""
