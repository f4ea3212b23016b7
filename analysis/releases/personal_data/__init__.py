"""Personal data in free text: looked for by rules, decided on by people (docs/guides/personal-data.md)."""
