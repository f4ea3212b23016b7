"""The one-machine services and the command that starts them.

Nothing here imports an app: the runtime uses CrowdRAG by management commands and by URL, as an operator would. A
process is started by `processes` and kept alive by a `service_monitor`, all of them by the `supervisor`;
`embedded_stores` provides the two stores to a single command. `docs/adr/0001-one-engine-everywhere.md` says why the
servers are included.
"""
