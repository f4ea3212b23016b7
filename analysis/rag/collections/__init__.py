"""Readers of question files with candidate documents. docs/reference/question-files.md shows the formats.

`qa` reads FlashRAG's JSON lines, `lamp` reads LaMP's tasks, and `passage_banks` and `passages_by_author` read passages
by author and truth. `corpus` is a large file of documents to search. `folds` splits a collection. The readers never
guess what a file does not state.
"""
