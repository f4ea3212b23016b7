"""The demo study: its texts, its simulated crowd, and how it is set up."""
