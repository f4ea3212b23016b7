"""The gateway to language models: endpoints, calls, money, forecasts.

`gateway` is the door. Below it: `requests` (what is asked), `claims` and `batch_claims` (what is written down before
and after), `ledger` (money), `dispatcher` on an `event_loop` (many calls at once), `concurrency` and `retry_policy`
(how many, and when again), `connections` to checked `addresses`, `replies` and `structured_output` (what came back).
Beside it: `endpoints`, `forecasts`, `erasure`, `prompt_delimiters`.
"""
