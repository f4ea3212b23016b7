"""Texts with planted personal data, and texts that only look so: drawn by a seed, so that the rules can be measured.

Nothing here is anybody's: numbers are from ranges kept for examples (RFC 2606, 5737, 3849; 555-01xx; Ofcom's drama
numbers), or carry right check digits and belong to no bank.
"""

import random
import string
from dataclasses import dataclass
from pathlib import Path

from analysis.enums import PersonalKind as Kind

GUIDE = Path(__file__).parents[3] / "docs/guides/personal-data.md"
FIRST = ("Maria", "John", "Aisha", "Søren", "Łukasz", "Chloé", "Wei", "Olumide", "Priya", "Juan", "Zoë", "O'Brien")
LAST = ("Smith", "García", "Müller", "Nguyen", "Okafor", "Kowalski", "van der Berg", "Rossi", "Tanaka", "D'Souza")
USERS = ("maria.smith", "j_doe", "wei-t", "okafor")
HOSTS = ("example.org", "mail.example.com", "uni-example.de", "example.co.uk")
WORDS = (
    "The committee reviewed 14 studies [0] and found no effect [1][2]",
    "Prices rose from $1,200.50 to $3,499 in 2019–2021",
    "In 1987 some 250 000 people moved there; 7.8 billion live on Earth (2020)",
    "It weighs 12.5 kg, 3-4 times as much",
    "Leaves fall in autumn because days grow shorter [3]",
    "Water boils at 100 °C, at 212 °F, and ratios of 16:9 are common",
)


@dataclass(frozen=True)
class Planted:
    """A text and what was planted into it."""

    text: str
    spans: tuple[tuple[Kind, str], ...]


def luhn(digits: str) -> str:
    """Return digits with the check digit behind them that ISO/IEC 7812 asks for, by trying all ten."""
    for last in "0123456789":
        whole = digits + last
        total = 0
        for place, digit in enumerate(reversed(whole)):
            n = int(digit) * (2 if place % 2 else 1)
            total += n - 9 if n > 9 else n
        if total % 10 == 0:
            return whole
    raise AssertionError(digits)


def iban(country: str, account: str) -> str:
    """Return an account's IBAN, its check digits found by trying them all."""
    for n in range(2, 99):
        turned = "".join(str(string.ascii_uppercase.index(c) + 10) if c.isalpha() else c for c in account + country)
        if int(f"{turned}{n:02}") % 97 == 1:
            return f"{country}{n:02}{account}"
    raise AssertionError(account)


Forms = tuple[tuple[str, ...], tuple[str, ...]]


def forms(rng: random.Random) -> dict[Kind, Forms]:
    """Of each kind sentences with a gap, and what may stand in it."""

    def digits(n: int) -> str:
        return "".join(rng.choice(string.digits) for _ in range(n))

    def grouped(text: str) -> str:
        return " ".join(text[i : i + 4] for i in range(0, len(text), 4))

    user, host, last, number = rng.choice(USERS) + digits(2), rng.choice(HOSTS), f"01{digits(2)}", rng.randrange(1, 900)
    mail, page, handle = user.replace("_", "+"), user.replace(".", ""), user.replace(".", "_").replace("-", "_")
    accounts = (iban("DE", digits(18)), iban("GB", "NWBK" + digits(14)), iban("NL", "ABNA" + digits(10)))
    card = luhn(rng.choice(("4", "5500", "6011")).ljust(4, "1") + digits(11))
    worker = "A" + "".join(rng.choice(string.ascii_uppercase) for _ in range(8)) + digits(4)
    hexadecimal = "".join(rng.choice("0123456789abcdef") for _ in range(22)) + "a1"
    year = rng.randrange(1950, 2005)
    return {
        Kind.EMAIL: (("Write to me at {}.",), (f"{mail}@{host}", f"{mail} (at) {host}", f"{mail}[at]{host}")),
        Kind.PHONE: (
            ("You can reach me on {} in the evening.", "My number: {}"),
            (f"+44 20 7946 0{digits(3)}", f"(555) 555-{last}", f"555-555-{last}", f"+1 555 555 {last}",
             f"030 90{digits(3)}-{digits(3)}", f"+49 30 23125 {digits(3)}", f"555.555.{last}"),
        ),
        Kind.PROFILE: (
            ("More on {} if you like.",),
            (f"https://twitter.com/{page}", f"github.com/{page}", f"https://www.linkedin.com/in/{page}",
             f"https://reddit.com/user/{page}", f"www.facebook.com/{page}", f"https://people.example.org/~{page}",
             f"https://www.youtube.com/@{page}", f"ftp://{page}:secret@files.example.org"),
        ),
        Kind.HANDLE: (("Follow me, {} everywhere.",), (f"@{handle}", f"u/{handle}")),
        Kind.PLATFORM: (("My id is {} for the payment.",), (hexadecimal, worker)),
        Kind.ACCOUNT: (("Please pay to {} soon.",), (*accounts, *map(grouped, accounts))),
        Kind.CARD: (("The card was {} then.",), (card, grouped(card))),
        Kind.NATIONAL: (
            ("I had to give my number {} twice.",),
            (f"{rng.randrange(100, 600)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}", f"AB{digits(6)}C"),
        ),
        Kind.NETWORK: (
            ("I logged in from {} at home.",),
            (f"8.8.{rng.randrange(256)}.{rng.randrange(1, 255)}", "2a00:1450:4001:81b:0:0:200e:68"),
        ),
        Kind.ADDRESS: (
            ("I live at {} with my dog.",),
            (f"{number} Maple Street", f"{number} Old Mill Road", f"{number}b Church Lane", f"Lindenstraße {number}",
             f"Schillerplatz {number}"),
        ),
        Kind.NAME: (
            ("My name is {} and I liked it.", "Hello, I'm {} from the north.", "Ich heiße {} und schreibe gern.",
             "Kind regards, {}"),
            (f"{rng.choice(FIRST)} {rng.choice(LAST)}",),
        ),
        Kind.BIRTH: (
            ("I was born on {} in a small town.", "Date of birth: {}"),
            (f"{rng.randrange(1, 28)} May {year}", f"{year}-04-17", "04/17/1988"),
        ),
    }  # fmt: skip


KINDS = tuple(forms(random.Random(0)))

# What careless rules take for personal data.
INNOCENT = (
    "ISBN 978-3-16-148410-0 and doi:10.1145/3726302.3730093 are cited in it [12].",
    "See arXiv 2101.06561 and section 3.1.4.2; version 2.5.1.10 came later.",
    "Between 1939-1945 and again 2001-2010 output was 1 234 567 890 tonnes.",
    "Use @media queries, @param and @staticmethod where they are needed.",
    "It costs $555,555,0199 or 0.123456789; GDP was 21,433,226,000,000 in 2019.",
    "Read https://www.example.org/articles/2019/05/how-trees-grow and www.youtube.com/watch?v=abc.",
    "I am British and I'm sure that Mary Shelley was born on 30 August 1797 in London.",
    "The server answers on 127.0.0.1 and 192.168.0.1, the mask is 255.255.255.0.",
    "In 12 High Court cases and 3 Supreme Court cases since 1990 the road was long.",
    "Wall Street fell by 3 % and Downing Street said nothing about Route 66.",
    "The gene BRCA1, the alloy AZ31B and the part ABCDEFGHIJKLM are named here.",
    "Call it what you will: telephones of 1876 weighed 4000 grams and cost 150 dollars.",
    "His name is known to all; my name for it is nothing special.",
    "Emails must hold an @ sign, and Twitter, Facebook and github.com/features are sites.",
    "The hash 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 is long.",
    "Scores of 10/10, 7-3, 21:14 and 1-800 words were common; 24/7 too.",
    "Steps: 1. 2. 3. 4. 5. 6. 7. 8. 9. 10. 11. 12. 13. 14. 15. 16.",
    "He scored 4111 2222 3333 4444 points in the 2019-20 season.",
    "Coordinates 52.5200, 13.4050 and times 12:30:45 are given, and 00:1A:2B:3C:4D:5E too.",
    "Best regards to everybody who walked 2 Long Miles on the road.",
)


# What people write to be understood by people, and rules hardly read: what is found of it is said in the guide.
HARD: tuple[tuple[str, str], ...] = (
    ("Write to maria dot smith at example dot org please.", "maria dot smith at example dot org"),
    ("My mail is maria.smith AT example.org, thanks.", "maria.smith AT example.org"),
    ("Ring me: oh two oh, seven nine four six, oh one two three.", "oh two oh, seven nine four six, oh one two three"),
    ("My neighbour Aisha Okafor told me so.", "Aisha Okafor"),
    ("As a nurse at Maple Hospital in Little Whittington I see it daily.", "Little Whittington"),
    ("Signed, M. Smith", "M. Smith"),
    ("i'm john smith and i live alone.", "john smith"),
    ("My Insta is mariasmith_54.", "mariasmith_54"),
    ("I turned 37 on the third of May.", "the third of May"),
    ("My flat is in Maple Court, number twelve.", "Maple Court, number twelve"),
    ("My phone is 7946 0123.", "7946 0123"),
    ("Call 0 2 0 7 9 4 6 0 1 2 3 now.", "0 2 0 7 9 4 6 0 1 2 3"),
    ("Contact: maria.smith@example . org", "maria.smith@example . org"),
    ("Me on Mastodon: @maria@example.social.", "@maria@example.social"),
    ("My name's Wei.", "Wei"),
    ("They call me Dr. Chloé Rossi there.", "Dr. Chloé Rossi"),
)


def texts(seed: int, n: int) -> list[Planted]:
    """Return texts, of each kind one after the other, each with one thing planted among sentences without any."""
    rng = random.Random(seed)
    found = []
    for i in range(n):
        kind = KINDS[i % len(KINDS)]
        frame, words = map(rng.choice, forms(rng)[kind])
        first, second = rng.sample(WORDS, 2)
        sentences = [f"{first}.", frame.format(words), f"{second}."]
        text = " ".join(sorted(sentences, key=lambda each: "regards" in each))  # regards end a text
        found.append(Planted(text, ((kind, words),)))
    return found
