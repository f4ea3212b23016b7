"""Operators sign in to the administration as everybody does: not as often as they like."""

from django.contrib import admin

from .forms import OperatorSignInForm

admin.site.login_form = OperatorSignInForm
