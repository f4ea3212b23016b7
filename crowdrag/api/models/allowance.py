"""How much somebody has asked of the API lately."""

from django.conf import settings
from django.db import models


class Allowance(models.Model):
    """Until when what somebody has asked for is used up: one row a person, moved by each request."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    used_until = models.DateTimeField()
