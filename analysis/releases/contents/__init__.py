"""Contents of a release: tables of rows that may be released, and what was left out."""
