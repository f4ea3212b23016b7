"""Rules that detect possible personal data. They are not a model, so that every finding can be explained.

The rules prefer false positives: people review the findings, but nobody reviews what was missed. Precision and recall
are measured with planted texts (tests/analysis/releases/planted.py; docs/guides/personal-data.md). Names are only
detected where people introduce themselves: a list of names would be wrong about most people.
"""

import functools
import ipaddress
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from analysis.text.words import whole_words

from ...enums import PersonalKind

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A span of a text, in code points."""

    start: int
    end: int
    kind: PersonalKind


def _always(_match: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """A pattern; `group` is the part to redact, `hint` a text that must occur for the pattern to be tried.

    `shape` is a stricter necessary condition than the hint, for an engine without lookaround (RE2), in lower case.
    """

    kind: PersonalKind
    pattern: re.Pattern[str]
    check: Check = _always
    group: int | str = 0
    hint: tuple[str, ...] = ()
    needs_number: bool = False
    shape: str = ""

    def is_worth_it(self, lowered: str, *, has_number: bool) -> bool:
        """Return whether the rule could match: most texts contain nothing that most rules look for.

        `lowered` is the text in lower case; `has_number` says whether it contains a long number. Both are computed once
        for all rules.
        """
        if self.needs_number and not has_number:
            return False
        # Takes a third of the time of `any`, for each text and rule.
        for hint in self.hint:
            if hint in lowered:
                return True
        return not self.hint

    def find(self, text: str) -> Iterator[Match]:
        """Yield the matches of the rule."""
        for match in self.pattern.finditer(text):
            if self.check(match):
                yield Match(match.start(self.group), match.end(self.group), self.kind)


# Sites whose URLs identify an account, and their paths that are not accounts.
_SITES = (
    r"(?:twitter|x|facebook|fb|instagram|tiktok|github|gitlab|medium|soundcloud|twitch|pinterest|vk|t|telegram|threads|"
    r"linktr|patreon|ko-fi|paypal|venmo|strava|flickr|mastodon|bsky)\.(?:com|net|org|me|tv|ee|social|app)"
)
_NOBODY = (
    r"(?!(?:home|search|hashtag|explore|watch|about|help|login|signup|share|sharer|intent|i|p|reel|groups|pages|events|"
    r"privacy|terms|tos|legal|settings|topics|features|pricing|blog|news|developers?|docs|status|download|marketplace)\b)"
)
_FOLDERS = r"(?:in|u|user|users|profile|profiles|people|channel|c|author|authors|member|members)"
_STREETS = r"(?:Street|Avenue|Road|Lane|Drive|Boulevard|Terrace|Crescent|Close|St\.|Ave\.?|Rd\.?|Ln\.|Dr\.|Blvd\.?)"
_UPPER = r"[A-ZÀ-ÖØ-ÞŁŚŻŠČŘŽ]"
_STREET_HINTS = (
    *(" street", " avenue", " road", " lane", " drive", " boulevard", " terrace", " crescent", " close", " st."),
    *(" ave", " rd", " ln.", " dr.", " blvd"),
)
_NAME_HINTS = (
    *("name is", "name:", "name's", "name’s", "am called", "they call me", "ich heiße", "mein name", "appelle"),
    *("me llamo", "mi nombre", "mi chiamo"),
)
_PARTICLES = r"(?:(?:van|von|de|der|den|la|le|bin|al|el|da|di|du)\s+){0,2}"
_NAMED = rf"(?:(?:Dr|Prof|Mrs?|Ms)\. )?{_UPPER}[\w'’-]+(?:\s+{_PARTICLES}{_UPPER}[\w'’.-]*){{0,3}}"
_DATE = (
    r"(?:\d{1,2}(?:st|nd|rd|th)?[./ -]\s?(?:\d{1,2}|[A-Za-zäé]{3,9})[./ ,-]\s?\d{2,4}|\d{4}-\d{2}-\d{2}|"
    r"[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?,? \d{4})"
)
# Separators between the digits of a number.
_GAP = r"[ \u00a0()./\u2010-\u2013-]"
# Words after an @ in code and on pages that are not accounts.
_CSS = ("media", "import", "property", "charset", "keyframes", "supports", "page")
_CODE = (
    "param",
    "return",
    "returns",
    "override",
    "staticmethod",
    "classmethod",
    "dataclass",
    "test",
    "deprecated",
    "see",
)
_AT_WORDS = frozenset((*_CSS, *_CODE, "since", "throws", "author", "example", "everyone", "here", "channel", "all"))


def _has_digits(least: int, most: int) -> Check:
    def check(match: re.Match[str]) -> bool:
        text = match.group()
        before = match.string[max(0, match.start() - 8) : match.start()].lower()
        many = least <= sum(letter.isdigit() for letter in text) <= most
        return many and "isbn" not in before and "issn" not in before and "doi" not in before

    return check


def _is_iban(match: re.Match[str]) -> bool:
    # ISO 13616: move the first four characters to the end, letters count from 10; the number must be 1 modulo 97.
    iban = re.sub(r"\s", "", match.group()).upper()
    if not 15 <= len(iban) <= 34:
        return False
    turned = iban[4:] + iban[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def _is_card(match: re.Match[str]) -> bool:
    # ISO/IEC 7812: double every second digit from the right and sum the digits; the total must be a multiple of 10.
    digits = [int(letter) for letter in match.group() if letter.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_global_address(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 9) : match.start()].lower()
    if re.search(r"(?:version|release|v|§|section)\s*$", before):
        return False
    try:
        return ipaddress.ip_address(match.group()).is_global
    except ValueError:
        return False


def _is_worker_id(match: re.Match[str]) -> bool:
    text = match.group()
    return sum(letter.isdigit() for letter in text) >= 2 and sum(letter.isalpha() for letter in text) >= 3


def _is_nobody(match: re.Match[str]) -> bool:
    return match.group().lstrip("@").rstrip(".").lower() not in _AT_WORDS


def _rule(
    kind: PersonalKind,
    pattern: str,
    check: Check = _always,
    *,
    flags: int = 0,
    group: int | str = 0,
    hint: tuple[str, ...] = (),
    number: bool = False,
    shape: str = "",
) -> Rule:
    return Rule(kind, re.compile(pattern, flags), check, group, hint, number, shape)


# About seven digits with any separators: neither citation numbers nor years.
_NUMBER = re.compile(r"\d[\d\s().:/\u2010-\u2013-]{5}")
# Necessary condition of the rules that need a number and have no shape: six digits close together.
_SIX_DIGITS = r"\p{Nd}(?:[\s\p{Z}()./\x{2010}-\x{2013}-]{0,3}\p{Nd}){5}"

# In order of precedence: of two overlapping matches, the earlier rule wins.
RULES: tuple[Rule, ...] = (
    _rule(
        PersonalKind.PROFILE, r"\b[a-z][a-z0-9+.-]{1,9}://[^\s/@:]{1,64}(?::[^\s/@]{0,64})?@\S{1,200}", hint=("://",)
    ),
    _rule(PersonalKind.HANDLE, r"(?<![\w@])@[\w.-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", hint=("@",)),
    _rule(PersonalKind.EMAIL, r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", hint=("@",)),
    _rule(
        PersonalKind.EMAIL,
        r"(?<![\w.+-])[\w.+-]{1,64}\s?[\[({]\s?at\s?[\])}]\s?[\w-]{1,63}(?:\s?(?:[\[({]\s?(?:dot|punkt)\s?[\])}]|\.)"
        r"\s?[\w-]{2,63}){1,3}",
        flags=re.IGNORECASE,
        hint=("at)", "at]", "at }", "at )", "at ]", "at}"),
    ),
    _rule(
        PersonalKind.EMAIL,
        r"(?<![\w.+-])[\w.+-]{1,64}(?: dot [\w+-]{1,64}){0,3} at [\w-]{1,63}(?: dot [\w-]{2,63}){1,3}",
        flags=re.IGNORECASE,
        hint=(" dot ",),
    ),
    _rule(
        PersonalKind.EMAIL,
        r"(?<![\w.+-])[\w.+-]{1,64} AT [\w-]{1,63}(?:\.[\w-]{2,63}){1,4}",
        hint=(" at ",),
        shape="(?-i: AT )",
    ),
    _rule(
        PersonalKind.PROFILE,
        rf"(?<![\w.@-])(?:https?://)?(?:www\.|m\.)?(?:[\w-]{{1,40}}\.)?{_SITES}/@?{_NOBODY}[\w.-]{{2,60}}\b",
        flags=re.IGNORECASE,
        hint=(".com/", ".net/", ".org/", ".me/", ".tv/", ".ee/", ".social/", ".app/"),
    ),
    _rule(
        PersonalKind.PROFILE,
        rf"(?<![\w.@-])(?:https?://)?(?:[\w-]{{1,63}}\.){{1,4}}[a-z]{{2,12}}/(?:{_FOLDERS}/@?|~|@)[\w.-]{{2,60}}",
        flags=re.IGNORECASE,
        hint=("/",),
    ),
    _rule(
        PersonalKind.ACCOUNT,
        r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,3})?\b",
        _is_iban,
        number=True,
        shape=r"[a-z]{2}\p{Nd}{2} ?[a-z0-9]{4} ?[a-z0-9]{4}",
    ),
    _rule(PersonalKind.CARD, r"(?<![\d.,-])[3-6]\d{3}(?:[ -]?\d{2,6}){2,4}(?![\d.,]\d|\d)", _is_card, number=True),
    _rule(
        PersonalKind.NATIONAL, r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])", number=True
    ),
    _rule(PersonalKind.NATIONAL, r"\b[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b", number=True),
    _rule(
        PersonalKind.NETWORK,
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)",
        _is_global_address,
        hint=(".",),
        number=True,
        shape=r"\p{Nd}\.\p{Nd}{1,3}\.\p{Nd}{1,3}\.\p{Nd}",
    ),
    _rule(
        PersonalKind.NETWORK,
        r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}:{1,2}){3,7}[0-9A-Fa-f]{1,4}(?![\w:])",
        _is_global_address,
        hint=(":",),
        shape=r"[0-9a-f]:{1,2}[0-9a-f]{1,4}:{1,2}[0-9a-f]{1,4}:",
    ),
    _rule(
        PersonalKind.PLATFORM,
        r"(?<![0-9A-Za-z])(?:[0-9a-f]{24}|A[0-9A-Z]{12,14})(?![0-9A-Za-z])",
        _is_worker_id,
        shape=r"(?-i:[0-9a-f]{24}|A[0-9A-Z]{12})",
    ),
    _rule(
        PersonalKind.PHONE,
        rf"(?<![\w+])(?:\+|00(?=[1-9]))[1-9](?:{_GAP}{{0,3}}\d){{7,14}}(?!\d)",
        _has_digits(8, 17),
        number=True,
    ),
    _rule(
        PersonalKind.PHONE,
        rf"(?<![\d.,$€£-])(?:1{_GAP})?(?:\([2-9]\d{{2}}\)\s?|[2-9]\d{{2}}({_GAP}))[2-9]\d{{2}}(?(1)\1|{_GAP})\d{{4}}"
        r"(?!\d|[-.]\d)",
        _has_digits(10, 11),
        number=True,
    ),
    _rule(
        PersonalKind.PHONE,
        rf"(?<![\d.,$€£/-])0[1-9]\d{{1,4}}{_GAP}{{1,3}}\d{{2,5}}(?:{_GAP}?\d{{2,5}}){{1,3}}(?![\d.,]\d|\d)",
        _has_digits(9, 13),
        number=True,
    ),
    _rule(
        PersonalKind.PHONE,
        r"\b(?:phone|mobile|cell|tel|telephone|whatsapp|call me|text me|telefon|handy)\b[^\d\n\[]{0,20}"
        rf"(?P<number>\+?\d(?:{_GAP}{{0,2}}\d){{5,14}})(?!\d)",
        flags=re.IGNORECASE,
        group="number",
        number=True,
    ),
    _rule(
        PersonalKind.ADDRESS,
        rf"(?<![\w.,-])\d{{1,5}}[A-Za-z]?,?\s+(?:{_UPPER}[\w'’.-]*\s+){{1,3}}{_STREETS}(?!\w)",
        hint=_STREET_HINTS,
    ),
    _rule(
        PersonalKind.ADDRESS,
        r"\b[A-ZÄÖÜ][\wäöüß-]{2,40}(?:straße|strasse|str\.|weg|platz|allee|gasse)\s\d{1,4}\s?[a-z]?\b",
        hint=("straße", "strasse", "str.", "weg", "platz", "allee", "gasse"),
    ),
    _rule(
        PersonalKind.NAME,
        r"(?i:\bmy (?:full |first |last |real |own )?name(?:['’]s| is|:)|\bi am called|\bthey call me|\bich heiße|"
        r"\bmein name ist|\bje m['’]appelle|\bme llamo|\bmi nombre es|\bmi chiamo)"
        rf"\s+(?P<name>{_NAMED})",
        group="name",
        hint=_NAME_HINTS,
    ),
    _rule(
        PersonalKind.NAME,
        rf"\b(?:I am|I['’]m|Ich bin|Je suis|Soy)\s+(?P<name>(?:Dr\. |Prof\. )?{_UPPER}[\w'’-]+\s+{_PARTICLES}"
        rf"{_UPPER}[\w'’-]+)",
        group="name",
        hint=("i am", "i'm", "i’m", "ich bin", "je suis", "soy"),
    ),
    _rule(
        PersonalKind.NAME,
        r"\b(?:[Rr]egards|[Ss]incerely|[Cc]heers|[Yy]ours(?: truly)?|Signed|Written by|Grüße[n]?)\s*[,:]?\s+"
        rf"(?P<name>{_NAMED})\s*[.!]?\s*\Z",
        group="name",
        hint=("regards", "sincerely", "cheers", "yours", "signed", "written by", "grüße"),
    ),
    _rule(
        PersonalKind.BIRTH,
        r"(?i:\bi was born (?:on|in)|\bmy (?:date of birth|birthday|dob) (?:is|was)|\bdate of birth:?|\bdob:?|"
        rf"\bich (?:bin|wurde) am)\s+(?:the )?(?P<date>{_DATE})",
        group="date",
        hint=("born", "birth", "dob", "ich bin am", "ich wurde am"),
    ),
    _rule(PersonalKind.HANDLE, r"(?<![\w@/.])@[A-Za-z_][\w.]{2,29}(?![\w@]|\.\w)", _is_nobody, hint=("@",)),
    _rule(PersonalKind.HANDLE, r"(?<![\w/])/?u/[A-Za-z0-9_-]{3,20}(?![\w/])", hint=("u/",)),
)


@functools.cache
def _shapes() -> str:
    """Return the necessary conditions of all rules as one pattern for RE2, which reads each character once."""
    needed = {rule.shape or _hints(rule) for rule in RULES}
    return f"(?i:{'|'.join(sorted(needed))})"


def _hints(rule: Rule) -> str:
    return _SIX_DIGITS if rule.needs_number else "|".join(map(re.escape, rule.hint))


def may_hold(texts: Sequence[str]) -> list[bool]:
    """Return whether a rule could match each text; this quick check is 40 times as fast.

    Lone surrogates, which only logs can contain, are replaced.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    held = pa.array([text.encode("utf-8", "replace") for text in texts], pa.binary()).view(pa.string())
    may: list[bool] = pc.match_substring_regex(held, pattern=_shapes()).to_pylist()
    return may


def find(
    text: str, *, own_answers: Iterable[str] = (), known: frozenset[str] = frozenset(), by_rules: bool = True
) -> list[Match]:
    """Return possible personal data, sorted and without overlaps.

    Parameters
    ----------
    own_answers
        Survey answers of the person about themselves; found wherever they occur as a word.
    known
        Participant IDs on platforms, in lower case.
    by_rules
        Whether to apply the rules; `may_hold` says where they cannot match.
    """
    matches: list[Match] = []
    if by_rules:
        lowered, has_number = text.lower(), _NUMBER.search(text) is not None
        for rule in RULES:
            if rule.is_worth_it(lowered, has_number=has_number):
                _add(matches, rule.find(text))
    _add(matches, _answered(text, own_answers))
    if known:
        _add(matches, _known(text, known))
    return matches


def _add(matches: list[Match], more: Iterable[Match]) -> None:
    """Insert new matches that overlap none of the present ones, which are sorted and disjoint."""
    for match in more:
        index = bisect_left(matches, match.start, key=lambda other: other.start)
        is_free_before = index == 0 or matches[index - 1].end <= match.start
        if is_free_before and (index == len(matches) or match.end <= matches[index].start):
            matches.insert(index, match)


def _answered(text: str, own_answers: Iterable[str]) -> Iterator[Match]:
    for answer in own_answers:
        for start, end in whole_words(answer, text, ignore_case=True):
            yield Match(start, end, PersonalKind.ANSWER)


_ID = re.compile(r"[0-9A-Za-z_-]{6,64}")


def _known(text: str, known: frozenset[str]) -> Iterator[Match]:
    if known.isdisjoint(map(str.lower, _ID.findall(text))):
        return
    for match in _ID.finditer(text):
        if match.group().lower() in known:
            yield Match(match.start(), match.end(), PersonalKind.PLATFORM)
