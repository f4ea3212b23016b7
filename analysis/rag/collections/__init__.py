"""Where questions come from: files of questions with candidate documents. docs/guides/collections.md shows them.

`qa` reads FlashRAG's JSON lines, `lamp` LaMP's tasks, `banks` the passage banks by author and truth; `corpus` is a
large file of documents to search; `folds` divides a collection. What a file does not say is never guessed.
"""
