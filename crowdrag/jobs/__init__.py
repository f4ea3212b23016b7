"""Background work: runs, their units and files, and the queues that carry them.

`lifecycle` starts, cancels, resumes and awaits runs of registered `kinds`; a `worker` claims their units under `leases`
and renews these by a `heartbeat`; `completion` ends a run, once. The `sweep` finds what got lost, and runs the
`schedules` that are due. `run_files` and `file_storage` store files, `downloads` sends them.
"""
