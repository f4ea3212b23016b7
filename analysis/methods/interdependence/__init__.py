"""How far the dimensions say the same (docs/methods/interdependence.md)."""
