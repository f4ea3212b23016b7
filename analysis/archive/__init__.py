"""Archives: a study as one file that others can use and another system can import (docs/guides/export.md)."""
