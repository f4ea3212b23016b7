"""Writing plans: the number, kind and pay of the responses to write.

`services` creates, changes, opens and closes plans and computes their costs; `surveys` has the questions before and
after writing; `default_texts` has the default instructions and consent text.
"""
