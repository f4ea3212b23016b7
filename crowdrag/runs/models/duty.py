"""What is done from time to time, and when it was done last."""

from django.db import models


class Duty(models.Model):
    """A periodic duty. The row says when somebody took it on last, so that of several sweeps one does it."""

    name = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "duties"

    def __str__(self) -> str:
        return self.name
