"""Who is told, what they are told, and how far it has got."""

from .delivery import Delivery
from .message import Message
from .webhook import Webhook

__all__ = ["Delivery", "Message", "Webhook"]
