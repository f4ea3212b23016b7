"""Operators sign in to the admin pages like everybody else, with the same limits."""

from django.contrib import admin

from .forms import OperatorSignInForm

admin.site.login_form = OperatorSignInForm
