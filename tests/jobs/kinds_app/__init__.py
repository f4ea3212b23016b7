"""An app for tests alone: kinds of runs whose effects can be counted, whatever becomes of their workers."""
