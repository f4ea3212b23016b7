"""The gateway to language models: endpoints, calls, money, forecasts.

`gateway` is the door, and a call goes one way: `requests` (what is asked), `attempts` (what is written down before and
after), `client` (what is sent), `replies` (what came back). `ledger` keeps the money, `retry_policy` says when a
question is asked again, `addresses` where calls may go.
Beside them: `endpoints`, `forecasts`, `erasure`, `prompt_delimiters`.
"""


class GatewayError(Exception):
    """A model cannot be asked; the message says what to do. Each kind stands beside the function that raises it."""
