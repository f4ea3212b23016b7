"""Figures: common functions of charts, and their rendering."""
