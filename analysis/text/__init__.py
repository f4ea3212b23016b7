"""Texts as pure functions of strings: statements and citations."""
