"""The demo study: texts, simulated crowd, and setup."""
