"""Accounts in the operator's admin pages. Operators sign in there like everybody else, with the same limits.

The permissions and groups of Django are not used: an operator may do everything, and others have roles in studies.
"""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.timezone import localtime

from crowdrag.studies.models import User

from . import services
from .forms import NewPasswordForm, NewUserForm, OperatorSignInForm, UserForm

admin.site.login_form = OperatorSignInForm
admin.site.login_template = "registration/operator_login.html"
admin.site.unregister(Group)


def _moment(value: datetime | None) -> str:
    """Return a time in the format of the pages."""
    return date_format(localtime(value), "DATETIME_FORMAT") if value else "never"


class AccountFilter(admin.SimpleListFilter):
    """Operators, and accounts by their state."""

    title = "account"
    parameter_name = "account"
    conditions = {
        "operator": Q(is_staff=True) | Q(is_superuser=True),
        "active": Q(is_active=True),
        "paused": Q(is_active=False, removed_at__isnull=True),
        "removed": Q(removed_at__isnull=False),
    }

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("operator", "Operators"), ("active", "Active"), ("paused", "Paused"), ("removed", "Removed")]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        """Return the accounts of the choice."""
        return queryset.filter(self.conditions.get(str(self.value()), Q()))


@admin.register(User)
class EmailUserAdmin(UserAdmin):  # type: ignore[type-arg]
    """Accounts by email address. They are removed by a procedure of their own, since the history refers to them."""

    form = UserForm
    add_form = NewUserForm
    add_form_template = "admin/studies/user/add_form.html"
    change_password_form = NewPasswordForm
    change_user_password_template = "admin/studies/user/change_password.html"  # noqa: S105 -- a template
    list_display = ["email", "name", "active", "is_operator", "last_sign_in"]
    list_filter = [AccountFilter]
    show_facets = admin.ShowFacets.NEVER
    search_fields = ["email", "name"]
    ordering = ["email"]
    filter_horizontal = []
    readonly_fields = ["roles", "last_sign_in", "created", "signed_out", "removed"]
    fieldsets = [
        (None, {"fields": ["email", "name", "is_active", "is_operator"]}),
        ("Studies", {"fields": ["roles"]}),
        ("Dates", {"fields": ["created", "last_sign_in", "signed_out"]}),
    ]
    removed_fieldsets = [(None, {"fields": ["removed"]})]
    add_fieldsets = [(None, {"fields": ["email", "name", "password1", "password2"]})]

    @admin.display(description="Active", boolean=True, ordering="is_active")
    def active(self, user: User) -> bool:
        """Whether the account can be used."""
        return user.is_active

    @admin.display(description="Operator", boolean=True, ordering="is_superuser")
    def is_operator(self, user: User) -> bool:
        """Whether the user is an operator."""
        return user.is_staff or user.is_superuser

    @admin.display(description="Last sign-in", ordering="last_login")
    def last_sign_in(self, user: User) -> str:
        """When the user last signed in."""
        return _moment(user.last_login)

    @admin.display(description="Account created")
    def created(self, user: User) -> str:
        """When the account was made."""
        return _moment(user.date_joined)

    @admin.display(description="Signed out everywhere")
    def signed_out(self, user: User) -> str:
        """When all sessions were ended."""
        return _moment(user.signed_out_at)

    @admin.display(description="Removed")
    def removed(self, user: User) -> str:
        """When the account was removed."""
        return _moment(user.removed_at)

    @admin.display(description="Roles")
    def roles(self, user: User) -> str:
        """The user's role in each study."""
        memberships = user.memberships.select_related("study").order_by("study__title", "id")
        rows = [(reverse("members", args=[m.study.slug]), m.study.title, m.get_role_display()) for m in memberships]
        return format_html_join("", '<div><a href="{}">{}</a>: {}</div>', rows) or "No role in any study"

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Return the fields: of a removed account only its number and when it was removed."""
        return self.removed_fieldsets if obj and obj.removed_at else super().get_fieldsets(request, obj)

    def get_form(self, request: HttpRequest, obj: User | None = None, change: bool = False, **options: Any) -> Any:
        """Return the form, which knows whether it is the operator's own account."""
        form = super().get_form(request, obj, change=change, **options)
        return type(form.__name__, (form,), {"is_own": True}) if obj is not None and obj == request.user else form

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return False for a removed account."""
        return not (obj and obj.removed_at) and super().has_change_permission(request, obj)

    def has_delete_permission(self, *_args: Any) -> bool:
        """Return False: accounts are removed, not deleted."""
        return False

    def delete_view(self, _request: HttpRequest, object_id: str, *_args: Any) -> HttpResponse:
        """Redirect to the page that removes an account."""
        return redirect("account_remove", user_id=object_id)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save the account; a paused one is signed out everywhere."""
        super().save_model(request, obj, form, change)
        if change and "is_active" in form.changed_data and not obj.is_active:
            services.sign_out_everywhere(user=obj, by=request.user)  # type: ignore[arg-type]
