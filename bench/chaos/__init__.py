"""Chaos: a whole system under load whose parts are killed, and what of the acknowledged work is there at the end.

    make chaos                                  an hour (CHAOS_MINUTES=10 for the nightly form)
    python -m bench.chaos --minutes 3 --seed 1  a short try

Judges, writers, reviewers and researchers are processes of their own, which speak HTTP with the system that `crowdrag
up` started, and journal what it acknowledged (`client.py`). An adversary kills, stops and fills (`adversary.py`). At
the end the journals are compared with the database, and with a restored backup that was taken under load
(`comparison.py`).
"""
