"""Client of Prolific's API, and the format of its data (docs/guides/prolific.md)."""
