"""Statistics as pure functions of arrays: numpy and scipy, no Django."""
