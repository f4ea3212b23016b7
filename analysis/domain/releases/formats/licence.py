"""Licences that a release may be under: what they are called, where they stand, and the file that says so."""

from dataclasses import dataclass

from .about import About

_CC = "https://creativecommons.org/licenses"
_ODC = "https://opendatacommons.org/licenses"


@dataclass(frozen=True)
class Licence:
    """A licence.

    Attributes
    ----------
    name
        as people call it.
    address
        of its text; empty where it is not known.
    hub
        what Hugging Face calls it.
    """

    name: str
    address: str
    hub: str


def _creative_commons(kind: str, title: str) -> Licence:
    return Licence(f"Creative Commons {title} 4.0 International", f"{_CC}/{kind}/4.0/legalcode", f"cc-{kind}-4.0")


KNOWN = {
    "CC0-1.0": Licence(
        "Creative Commons Zero 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/legalcode", "cc0-1.0"
    ),
    "CC-BY-4.0": _creative_commons("by", "Attribution"),
    "CC-BY-SA-4.0": _creative_commons("by-sa", "Attribution-ShareAlike"),
    "CC-BY-NC-4.0": _creative_commons("by-nc", "Attribution-NonCommercial"),
    "CC-BY-NC-SA-4.0": _creative_commons("by-nc-sa", "Attribution-NonCommercial-ShareAlike"),
    "CC-BY-ND-4.0": _creative_commons("by-nd", "Attribution-NoDerivatives"),
    "CC-BY-NC-ND-4.0": _creative_commons("by-nc-nd", "Attribution-NonCommercial-NoDerivatives"),
    "ODC-By-1.0": Licence("Open Data Commons Attribution License v1.0", f"{_ODC}/by/1-0/", "odc-by"),
    "ODbL-1.0": Licence("Open Data Commons Open Database License v1.0", f"{_ODC}/odbl/1-0/", "odbl"),
    "PDDL-1.0": Licence("Open Data Commons Public Domain Dedication and License v1.0", f"{_ODC}/pddl/1-0/", "pddl"),
}


def of(name: str) -> Licence:
    """Return the licence of this SPDX identifier; another one has no more than its name."""
    return {key.lower(): each for key, each in KNOWN.items()}.get(name.lower(), Licence(name, "", "other"))


def write(about: About) -> str:
    """Return the file LICENSE: which licence, where its text stands, and what it does not cover."""
    found = of(about.licence)
    said = [
        f"{about.title}, version {about.version}",
        f"Copyright {about.released.year} {about.makers}",
        "",
        "What people and models wrote, what they judged, and what follows from both is licensed under",
        "",
        f"    {found.name}",
    ]
    if found.address:
        said += [f"    SPDX-License-Identifier: {about.licence}", f"    {found.address}"]
    if others := [name for name in about.licences if name != about.licence]:
        said += ["", f"Some people released their texts under {', '.join(others)}; each response says its licence."]
    if about.passage_terms:
        said += ["", "Retrieved passages are the work of others. They are passed on under these terms:", ""]
        said += [f"    {each}" for each in about.passage_terms.splitlines()]
    return "\n".join(said) + "\n"
