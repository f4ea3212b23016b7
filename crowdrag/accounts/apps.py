"""App configuration."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Sign-in, API tokens and login limits."""

    name = "crowdrag.accounts"
    label = "accounts"
    verbose_name = "Accounts"
