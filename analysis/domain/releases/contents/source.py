"""What all tables of a release are read with."""

from dataclasses import dataclass

from crowdrag.studies.models import Study

from ..choices import Choices
from .names import Names
from .selecting import Selection
from .times import Clock


@dataclass(frozen=True)
class Source:
    """The study, what was chosen, what is in, and how people and times are told."""

    study: Study
    choices: Choices
    selection: Selection
    names: Names
    clock: Clock
