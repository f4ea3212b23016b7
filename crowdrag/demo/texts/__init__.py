"""The texts of the demo study (CC0 1.0), in formats of the importers. See docs/explanation/demo.md."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
STYLES = ("bullet", "essay", "news")
