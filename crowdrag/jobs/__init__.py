"""Long work: runs, their units and files, and the queues that carry them.

`lifecycle` starts, cancels, resumes and awaits runs of registered `kinds`; a `worker` claims their units under `leases`
and keeps them by a `heartbeat`; `completion` ends a run, once. The `sweep` finds what got lost, and does what
`schedules` say is due. `run_files` and `file_storage` keep files, `downloads` sends them.
"""
