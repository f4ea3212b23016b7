"""Personal data in free text: detected by rules, reviewed by people (docs/guides/personal-data.md)."""
