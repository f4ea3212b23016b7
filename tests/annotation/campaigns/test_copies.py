"""Copying a campaign, and deleting a draft: by the domain, the page and the API."""

import pytest
from django.urls import reverse

from annotation.campaigns import design, launch, problems, questionnaires, questions, services
from annotation.enums import CampaignState
from annotation.judging import claims
from annotation.models import Campaign, Item, KnownLabel, TrainingItem
from annotation.quality import known_labels
from crowdrag.studies.enums import EntryKind, Role
from crowdrag.studies.models import EntryLink, Study
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.shared import made_once, signed_in
from tests.factories import NOW, CampaignFactory

pytestmark = pytest.mark.django_db


stored, study = made_once(lambda: corpus(topics=4))


def furnished(study: Study) -> Campaign:
    """A drawn draft with an item whose label is known, which also teaches."""
    campaign = draft(study, k=4, pay=321, items_per_questionnaire=7)
    services.change_instructions(campaign=campaign, text="Our own words.", now=NOW)
    questionnaires.build(campaign=campaign, now=NOW)
    item = Item.objects.filter(campaign=campaign).first()
    KnownLabel.objects.create(item=item, dimension=questions.questions_of(campaign)[0], value=1, explanation="Because.")
    TrainingItem.objects.create(campaign=campaign, item=item, position=0)
    return Campaign.objects.get(pk=campaign.pk)


def test_a_copy_asks_the_same_and_holds_nothing_that_was_drawn(study: Study) -> None:
    campaign = furnished(study)
    Campaign.objects.filter(pk=campaign.pk).update(state=CampaignState.CLOSED)
    made = services.clone_campaign(campaign=campaign, now=NOW)
    assert made.state == CampaignState.DRAFT
    assert made.name != campaign.name
    assert (made.k, made.pay, made.design) == (4, 321, campaign.design)
    assert (made.instructions, made.consent_text) == (campaign.instructions, campaign.consent_text)
    assert questions.questions_of(made) == questions.questions_of(campaign)
    assert not made.questionnaires.exists()
    assert known_labels.chosen_items(made).count() == made.items.count() == made.training.count() == 1
    assert KnownLabel.objects.get(item__campaign=made).explanation == "Because."
    again = services.clone_campaign(campaign=campaign, now=NOW)
    assert len({campaign.name, made.name, again.name}) == 3
    with pytest.raises(problems.BadCampaign):
        services.clone_campaign(campaign=campaign, name=made.name, now=NOW)


def test_a_draft_is_deleted_with_all_that_was_drawn(study: Study) -> None:
    campaign = furnished(study)
    other = services.clone_campaign(campaign=campaign, now=NOW)
    services.delete_draft(campaign=campaign)
    assert list(Campaign.objects.filter(study=study)) == [other]
    assert not Item.objects.filter(campaign=campaign.pk).exists()


def test_what_was_opened_or_has_an_open_link_stays(study: Study) -> None:
    campaign = furnished(study)
    link = EntryLink.objects.create(
        study=study,
        kind=EntryKind.OPEN,
        purpose=claims.purpose(campaign),
        token="t",
        token_hash=b"t",
        created_at=NOW,
    )
    with pytest.raises(problems.BadCampaign):
        services.delete_draft(campaign=campaign)
    link.closed_at = NOW
    link.save()
    CampaignFactory(study=study, source=campaign)
    with pytest.raises(problems.BadCampaign):
        services.delete_draft(campaign=campaign)
    launch.open_campaign(campaign=campaign, now=NOW)
    with pytest.raises(problems.NotDraft):
        services.delete_draft(campaign=campaign)
    assert Campaign.objects.filter(pk=campaign.pk).exists()


@pytest.mark.extended
def test_pages_offer_both_to_editors_and_deletion_of_drafts_alone(study: Study) -> None:
    campaign = furnished(study)
    client = signed_in(study)
    page = reverse("campaign_setup", args=[study.slug, campaign.pk])
    copy, end = (reverse(name, args=[study.slug, campaign.pk]) for name in ("campaign_duplicate", "campaign_delete"))
    assert {copy, end} <= set(client.get(page).content.decode().split('"'))
    assert copy not in signed_in(study, Role.VIEWER).get(page).content.decode()
    made = client.post(copy)
    assert made.status_code == 302
    assert client.get(made.url).status_code == 200
    assert client.post(end).url == reverse("campaigns", args=[study.slug])
    assert Campaign.objects.filter(study=study).count() == 1
    rest = Campaign.objects.get(study=study)
    launch.open_campaign(campaign=rest, now=NOW)
    end = reverse("campaign_delete", args=[study.slug, rest.pk])
    assert end not in client.get(reverse("campaign_setup", args=[study.slug, rest.pk])).content.decode()
    client.post(end)
    assert Campaign.objects.filter(pk=rest.pk).exists()


def test_topics_and_styles_that_the_study_lacks_are_refused(study: Study) -> None:
    campaign = draft(study)
    terms = services.terms_of(campaign)
    for field in ("topics", "styles"):
        with pytest.raises(problems.BadCampaign) as refused:
            services.change_terms(campaign=campaign, terms=terms, design=design.Design(**{field: ("nope",)}), now=NOW)
        assert set(refused.value.problems) == {field}


def test_closed_campaigns_are_archived_out_of_lists_and_restored(study: Study) -> None:
    campaign, client = draft(study), signed_in(study)
    archive, restore, listed = (
        reverse(name, args=[study.slug, *rest])
        for name, rest in (
            ("campaign_archive", [campaign.pk]), ("campaign_restore", [campaign.pk]), ("campaigns", [])
        )
    )  # fmt: skip
    client.post(archive)  # a draft is refused
    with pytest.raises(problems.BadCampaign):
        launch.archive_campaign(campaign=campaign, now=NOW)
    launch.open_campaign(campaign=campaign, now=NOW)
    launch.close_campaign(campaign=campaign, now=NOW)
    for _twice in range(2):
        assert client.post(archive).url == listed
    assert [row.campaign for row in client.get(listed).context["campaigns"]] == []
    assert [row.campaign for row in client.get(listed, {"archived": 1}).context["campaigns"]] == [campaign]
    client.post(restore)
    assert [row.campaign for row in client.get(listed).context["campaigns"]] == [campaign]
    client.post(archive)
    assert launch.reopen_campaign(campaign=campaign, now=NOW).archived_at is None
