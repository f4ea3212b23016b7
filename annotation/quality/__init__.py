"""What shows how somebody judges: attention checks, items with known labels, items to learn from; and screening.

`attention_checks` writes the checks and places them, `known_labels` picks items with known labels and places them,
`training` asks new judges and tells them what was expected; `check_results` says how the first two were answered. The
builder of questionnaires calls `known_labels.place_gold`, then `attention_checks.place_checks`, since a check stands
below an item.
"""
