"""The operator's dashboards, health, and figures for a monitoring system."""
