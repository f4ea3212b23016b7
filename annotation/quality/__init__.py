"""Quality of judges: attention checks, items with known labels, training, and screening.

`attention_checks` writes and places the checks. `known_labels` selects and places items with known labels. `training`
asks new judges and shows them the expected answers. `check_results` reports the answers to checks and gold items.
Questionnaires are built with `known_labels.place_gold` before `attention_checks.place_checks`, because a check is
placed below an item.
"""
