"""The gateway to language models: endpoints, calls, money, forecasts.

`gateway` is the entry point. A call passes through `requests` (the question), `attempts` (records before and after),
`client` (sending) and `replies` (the response). `ledger` keeps the accounts, `retry_policy` says when a question is
sent again, `addresses` where calls may go. There are also `endpoints`, `forecasts`, `erasure` and `prompt_delimiters`.
"""


class GatewayError(Exception):
    """A model cannot be called; the message says what to do. Subclasses are beside the functions that raise them."""
