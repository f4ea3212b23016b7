"""The operator's dashboards, health checks, and metrics for a monitoring system."""
