"""The one thing that every error of the gateway is."""


class GatewayError(Exception):
    """A model cannot be asked; the message says what to do. Each kind stands beside the function that raises it."""
