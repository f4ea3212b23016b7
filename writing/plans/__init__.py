"""What is to be written, by whom, for how much.

`services` makes, changes, opens and closes a plan and says what it costs; `surveys` has the questions before and after
writing; `default_texts` has what writers are told unless the study says something else.
"""
