"""The demo study: a small corpus of our own, and a simulated crowd that judges it."""
