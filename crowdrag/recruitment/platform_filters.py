"""Eligibility as the platform's filters, whose ids and values are read from the platform.

A campaign has `languages` and `countries` (by ISO code, or in the platform's spelling), `approval_rate` (minimum, in
per cent) and `completed` (minimum number of approved submissions). A criterion without a filter is not silently
dropped: the draft is not created.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf.locale import LANG_INFO

from .prolific import endpoints
from .prolific.client import Client

_LISTED: Final = """
AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AL Albania|AM Armenia|AO Angola|AR Argentina
AT Austria|AU Australia|AZ Azerbaijan|BA Bosnia and Herzegovina|BB Barbados|BD Bangladesh|BE Belgium|BF Burkina Faso
BG Bulgaria|BH Bahrain|BI Burundi|BJ Benin|BN Brunei|BO Bolivia|BR Brazil|BS Bahamas|BT Bhutan|BW Botswana|BY Belarus
BZ Belize|CA Canada|CD Democratic Republic of the Congo|CF Central African Republic|CG Congo|CH Switzerland
CI Ivory Coast|CL Chile|CM Cameroon|CN China|CO Colombia|CR Costa Rica|CU Cuba|CV Cape Verde|CY Cyprus
CZ Czech Republic|DE Germany|DJ Djibouti|DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia
EG Egypt|ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FM Micronesia|FR France|GA Gabon|GB United Kingdom
GD Grenada|GE Georgia|GH Ghana|GM Gambia|GN Guinea|GQ Equatorial Guinea|GR Greece|GT Guatemala|GW Guinea-Bissau
GY Guyana|HK Hong Kong|HN Honduras|HR Croatia|HT Haiti|HU Hungary|ID Indonesia|IE Ireland|IL Israel|IN India|IQ Iraq
IR Iran|IS Iceland|IT Italy|JM Jamaica|JO Jordan|JP Japan|KE Kenya|KG Kyrgyzstan|KH Cambodia|KI Kiribati|KM Comoros
KN Saint Kitts and Nevis|KP North Korea|KR Korea|KW Kuwait|KZ Kazakhstan|LA Laos|LB Lebanon|LC Saint Lucia
LI Liechtenstein|LK Sri Lanka|LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya|MA Morocco|MC Monaco
MD Moldova|ME Montenegro|MG Madagascar|MH Marshall Islands|MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia
MR Mauritania|MT Malta|MU Mauritius|MV Maldives|MW Malawi|MX Mexico|MY Malaysia|MZ Mozambique|NA Namibia|NE Niger
NG Nigeria|NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NR Nauru|NZ New Zealand|OM Oman|PA Panama|PE Peru
PG Papua New Guinea|PH Philippines|PK Pakistan|PL Poland|PR Puerto Rico|PT Portugal|PW Palau|PY Paraguay|QA Qatar
RO Romania|RS Serbia|RU Russia|RW Rwanda|SA Saudi Arabia|SB Solomon Islands|SC Seychelles|SD Sudan|SE Sweden
SG Singapore|SI Slovenia|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal|SO Somalia|SR Suriname|SS South Sudan
ST Sao Tome and Principe|SV El Salvador|SY Syria|SZ Eswatini|TD Chad|TG Togo|TH Thailand|TJ Tajikistan|TL East Timor
TM Turkmenistan|TN Tunisia|TO Tonga|TR Turkey|TT Trinidad and Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine
UG Uganda|US United States|UY Uruguay|UZ Uzbekistan|VA Vatican City|VC Saint Vincent and the Grenadines|VE Venezuela
VN Vietnam|VU Vanuatu|WS Samoa|YE Yemen|ZA South Africa|ZM Zambia|ZW Zimbabwe
"""
NAMES: Final = dict(entry.split(" ", 1) for line in _LISTED.strip().splitlines() for entry in line.split("|"))


LARGEST_NUMBER: Final = 1_000_000
# How the platform's filters for our criteria are found: by id if it is known to have been used, else by title.
_IDS: Final[Mapping[str, Sequence[str]]] = {
    "approval_rate": ("approval_rate",),
    "completed": ("approval_numbers", "total_approvals", "number_of_previous_submissions"),
    "languages": ("first-language",),
    "fluent": ("fluent-languages",),
    "countries": ("current-country-of-residence",),
}
_TITLES: Final[Mapping[str, Sequence[str]]] = {
    "approval_rate": ("approval rate",),
    "completed": ("number of previous submissions", "approved submissions", "approval numbers"),
    "languages": ("first language",),
    "fluent": ("fluent languages",),
    "countries": ("current country of residence",),
}


class EligibilityError(ValueError):
    """The platform has no filter for a criterion."""


@dataclass(frozen=True)
class _Filters:
    rows: list[dict[str, Any]]

    def of(self, term: str) -> dict[str, Any]:
        """Return the platform's filter for one of our criteria."""
        for row in self.rows:
            if row.get("filter_id") in _IDS[term]:
                return row
        for row in self.rows:
            if str(row.get("title", "")).strip().lower() in _TITLES[term]:
                return row
        raise EligibilityError(f"Prolific no longer has a filter for “{term}”.")


def platform_filters(client: Client, criteria: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the filters for the eligibility criteria; asks the platform only if there are any.

    Raises
    ------
    EligibilityError
        if there is no such filter or value, or a criterion is unknown.
    """
    terms = {name: value for name, value in criteria.items() if value not in (None, "", [], {})}
    if unknown := set(terms) - set(_IDS):
        raise EligibilityError(f"You cannot filter participants by “{min(unknown)}”.")
    if not terms:
        return []
    known = _Filters(endpoints.filters(client))
    selected = []
    for term, value in sorted(terms.items()):
        row = known.of(term)
        chosen = _range(row, term, value) if term in {"approval_rate", "completed"} else _values(row, term, value)
        selected.append({"filter_id": row["filter_id"], **chosen})
    return selected


def _range(row: Mapping[str, Any], term: str, least: object) -> dict[str, Any]:
    most = 100 if term == "approval_rate" else int(row.get("max") or LARGEST_NUMBER)
    if not isinstance(least, int) or isinstance(least, bool) or not 0 <= least <= most:
        raise EligibilityError(f"“{term}” must be a number from 0 to {most}.")
    return {"selected_range": {"lower": least, "upper": most}}


def _values(row: Mapping[str, Any], term: str, value: object) -> dict[str, Any]:
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []
    choices = row.get("choices")
    if not names or not isinstance(choices, Mapping):
        raise EligibilityError(f"Prolific's filter “{row.get('title', '')}” does not accept this choice.")
    by_name = {str(label).strip().lower(): str(key) for key, label in choices.items()}
    chosen = []
    for name in names:
        spoken = _english_name(term, str(name)).strip().lower()
        if spoken not in by_name:
            message = "Prolific's filter “%(title)s” does not know “%(name)s”."
            raise EligibilityError(message % {"title": row.get("title", ""), "name": name})
        chosen.append(by_name[spoken])
    return {"selected_values": chosen}


def _english_name(term: str, name: str) -> str:
    """Return the English name of a language or country given by its code; another name unchanged."""
    if term == "countries":
        return NAMES.get(name, name)
    return str(LANG_INFO.get(name, {}).get("name", name))
