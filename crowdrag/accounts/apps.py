"""The app's registration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    """Sign-in, API tokens and login limits."""

    name = "crowdrag.accounts"
    label = "accounts"
    verbose_name = _("Accounts")
