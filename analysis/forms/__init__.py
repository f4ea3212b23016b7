"""What a person may set on the pages of results and releases."""

from .analysis import AnalysisForm
from .release import LinkForm, ReleaseForm, WithdrawForm

__all__ = ["AnalysisForm", "LinkForm", "ReleaseForm", "WithdrawForm"]
