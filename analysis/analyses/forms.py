"""What a person may set when starting an analysis."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.enums import Judges
from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run

from ..methods.reference_metrics import encodings
from ..methods.settings import CHOICES, PRESETS, PUBLISHED, AnalysisSettings
from ..tables.run_tables import UPDATE_OF
from .updates import MARK

DEFAULTS = AnalysisSettings()


class AnalysisForm(forms.Form):
    """Parameters of an analysis; whatever is left empty has its default."""

    preset = forms.ChoiceField(
        label=_("Preset"),
        choices=[("", _("none")), (PUBLISHED, _("published procedure"))],
        required=False,
        help_text=_(
            "The published procedure replaces the settings below that it fixes. Its labels depend on the seed."
        ),
    )
    seed = forms.IntegerField(label=_("Seed"), initial=0, min_value=0, max_value=2**31, required=False)
    resamples = forms.IntegerField(
        label=_("Bootstrap resamples"), initial=DEFAULTS.resamples, min_value=1, max_value=100_000, required=False
    )
    restarts = forms.IntegerField(
        label=_("Restarts of MACE"), initial=DEFAULTS.restarts, min_value=1, max_value=1000, required=False
    )
    refine = forms.IntegerField(
        label=_("Rounds of search after them"),
        initial=DEFAULTS.refine,
        min_value=0,
        max_value=100,
        required=False,
        help_text=_("0 is the published procedure."),
    )
    spam_threshold = forms.FloatField(
        label=_("Highest spam probability trusted"),
        initial=DEFAULTS.spam_threshold,
        min_value=0,
        max_value=1,
        required=False,
    )
    k = forms.IntegerField(
        label=_("Votes of each pair that agreement is computed from"),
        min_value=1,
        required=False,
        help_text=_("Empty: as many as the campaign asked for."),
    )

    least_competent = forms.FloatField(
        label=_("Share of people that the other rule of correction leaves out"),
        initial=DEFAULTS.least_competent,
        min_value=0,
        max_value=1,
        required=False,
    )
    kept_votes = forms.IntegerField(
        label=_("Votes of each pair that it keeps"),
        initial=DEFAULTS.kept_votes,
        min_value=1,
        max_value=1000,
        required=False,
    )
    first_positions = forms.IntegerField(
        label=_("Items that are the first of a questionnaire"),
        initial=DEFAULTS.first_positions,
        min_value=1,
        max_value=1000,
        required=False,
        help_text=_("Against the later ones, for order effects."),
    )
    min_words = forms.IntegerField(
        label=_("Words from which a text is a response"),
        initial=DEFAULTS.min_words,
        min_value=0,
        max_value=10_000,
        required=False,
        help_text=_("Shorter ones are left out of lengths, and counted."),
    )
    density_bins = forms.IntegerField(
        label=_("Parts of a text, for where citations stand"),
        initial=DEFAULTS.density_bins,
        min_value=2,
        max_value=200,
        required=False,
    )
    reuse_limit = forms.FloatField(
        label=_("BLEU from which text counts as copied"),
        initial=DEFAULTS.reuse_limit,
        min_value=0,
        max_value=100,
        required=False,
        help_text=_("Of a statement against a passage that it cites."),
    )
    least_topics = forms.IntegerField(
        label=_("Topics from which a participant is ranked"),
        initial=DEFAULTS.least_topics,
        min_value=1,
        max_value=10_000,
        required=False,
        help_text=_("Who was graded on fewer has a merit, but no rank on the leaderboard."),
    )
    fix_known = forms.TypedChoiceField(
        label=_("Labels known beforehand"),
        choices=[("yes", _("are fixed")), ("no", _("are not used"))],
        coerce=lambda given: given == "yes",
        empty_value=None,
        initial="yes",
        required=False,
        help_text=_("Of gold items, where campaigns have any."),
    )

    labels = forms.ChoiceField(
        label=_("Labels and competences"),
        choices=[("averaged", _("averaged over all optima")), ("likeliest", _("of the likeliest optimum"))],
        initial=DEFAULTS.labels,
        required=False,
        help_text=_("Refitting in each resample uses the likeliest optimum."),
    )
    grades_from = forms.ChoiceField(
        label=_("Responses are graded by"),
        choices=[("gold", _("gold labels of their pairs")), ("votes", _("votes, weighted by competence"))],
        initial=DEFAULTS.grades_from,
        required=False,
    )
    bootstrap = forms.ChoiceField(
        label=_("In each resample, competences"),
        choices=[("conditional", _("stay as fitted")), ("refit", _("and labels are fitted anew"))],
        initial=DEFAULTS.bootstrap,
        required=False,
        help_text=_("Fitting anew takes about a minute longer for 1,000 resamples of 30,000 judgments."),
    )
    resample = forms.ChoiceField(
        label=_("Resamples draw"),
        choices=[("topics", _("topics")), ("topics+workers", _("topics and judges"))],
        initial=DEFAULTS.resample,
        required=False,
    )
    bertscore = forms.ChoiceField(
        label=_("BERTScores taken"),
        choices=lambda: [
            ("", _("those computed last")),
            *((str(choice), str(choice)) for choice in encodings.offered_models()),
            (encodings.NO_SCORES, _("none")),
        ],
        required=False,
        help_text=_("Of those that stand: an analysis computes none."),
    )

    def parameters(self) -> dict[str, Any]:
        """What was set, without the seed."""
        given = {name: value for name, value in self.cleaned_data.items() if value is not None}
        given.pop("seed", None)
        for name in (*CHOICES, "preset"):
            if not given.get(name):
                given.pop(name, None)
        fixed = PRESETS.get(given.get("preset", ""), {})
        return {name: value for name, value in given.items() if name not in fixed}

    def seed_given(self) -> int:
        """The seed, 0 by default."""
        return self.cleaned_data.get("seed") or 0


def describe(run: Run) -> dict[str, Any]:
    """Return the parameters of an analysis or an update of one, as the form calls them."""
    fields = AnalysisForm.base_fields
    labels = {
        UPDATE_OF: _("Update of"),
        "pool": _("Judges"),
        **{name: field.label or name for name, field in fields.items()},
    }
    chosen = {name: kinds.choice_label(field.choices) for name, field in fields.items() if hasattr(field, "choices")}
    words = chosen | {
        UPDATE_OF: lambda key: kinds.run_reference_by_key(run.study, key),
        "pool": kinds.choice_label(Judges.choices),
        "fix_known": lambda fixed: chosen["fix_known"]("yes" if fixed else "no"),
    }
    return kinds.label_parameters(run.parameters, labels=labels, words=words, hidden=("seed", MARK))
