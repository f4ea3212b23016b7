"""Order effects (docs/methods/order-effects.md)."""
