"""On which devices people may take part, and what kind somebody came with.

What a link allows is known to whoever advertises it: a recruitment platform's terms. They register here (`register`).
"""

from collections.abc import Callable, Collection, Mapping

from ..enums import Device
from ..models import EntryLink

Source = Callable[[EntryLink], Collection[str]]

# A browser that says which device it runs on does so with these; the first that is found counts. A tablet's Android
# leaves "Mobile" out. Tablets of Apple say that they are desktops, so the page looks for itself, too (device.js).
_SIGNS = (
    ("ipad", Device.TABLET),
    ("tablet", Device.TABLET),
    ("silk/", Device.TABLET),
    ("iphone", Device.MOBILE),
    ("ipod", Device.MOBILE),
    ("mobile", Device.MOBILE),
    ("android", Device.TABLET),
)
_sources: list[Source] = []


def register(source: Source) -> None:
    """Add what knows the devices that a link allows; called once from an app's `ready`."""
    _sources.append(source)


def allowed(link: EntryLink) -> list[Device]:
    """Return the devices on which people may take part who come by a link; all of them where nobody says otherwise."""
    said = {device for source in _sources for device in source(link)}
    return [device for device in Device if device in said] or list(Device)


def of(headers: Mapping[str, str]) -> Device:
    """Return the kind of device that a request comes from: by its client hint, and else by its user agent."""
    if headers.get("Sec-CH-UA-Mobile") == "?1":
        return Device.MOBILE
    agent = headers.get("User-Agent", "").lower()
    return next((device for sign, device in _SIGNS if sign in agent), Device.DESKTOP)
