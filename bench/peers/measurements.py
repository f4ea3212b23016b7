"""What is measured of a tool: judging load, exactly k annotations, kills, export, the page.

Clients are threads of this process, on the same cores as the server. An annotator sends what the tool's page sends in a
browser, from the pair that is shown to the next one; how long that takes is the time of a judgment.
"""

from __future__ import annotations

import gzip
import os
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.peers.tool import CHOICES, Annotator, Exported, Project, RefusedError, Site

#: Words of a response, as in the published corpus.
WORDS = 270
RESPONSES = 5
CLIENTS, ROUNDS, SECONDS, WARMING = (8, 32), 3, 5.0, 1.5
TOPICS = 60
RACERS, K, EACH, RACE_TOPICS = 40, 2, 5, 10
#: Failures after which a racer gives up.
PATIENT = 10
KILLERS, KILLS, BETWEEN, KILL_TOPICS = 8, 5, 3.0, 60
#: A line of 1.6 Mbit/s with 150 ms to the server and back, in bytes a second and ms.
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}
OPENINGS, PATIENCE = 3, 180_000
TEXT = ("text/", "json", "javascript", "svg", "xml", "font/ttf")


def project(name: str, topics: int, k: int, annotators: int, each: int | None = None) -> Project:
    """Return a project with made-up texts, the same ones for every tool."""
    rng = random.Random(name)
    words = [f"{rng.choice('bdfgklmnprstvw')}{rng.choice('aeiou')}{rng.choice('lmnrst')}{n % 100}" for n in range(3000)]
    texts = tuple(tuple(" ".join(rng.choices(words, k=WORDS)) for _ in range(RESPONSES)) for _ in range(topics))
    return Project(name, texts, k, annotators, each)


@dataclass
class Load:
    """Answers that were acknowledged in a closed loop, and the seconds of each judgment."""

    seconds: list[float] = field(default_factory=list)
    lasted: float = 0.0
    requests: int = 0
    errors: list[str] = field(default_factory=list)
    #: Answers a second in each round.
    rates: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second, the median of all rounds."""
        return statistics.median(self.rates)

    @property
    def request_rate(self) -> float:
        """Requests a second."""
        return self.requests / self.lasted

    def quantile(self, percent: int) -> float:
        """Seconds of a judgment below which so many percent are."""
        return statistics.quantiles(self.seconds, n=100)[percent - 1]


class Crowd:
    """Annotators of one site who are signed in; each keeps its place from one round to the next."""

    def __init__(self, site: Site, numbers: range) -> None:
        self.site = site
        self.people = [site.annotator(number) for number in numbers]
        for person in self.people:
            person.sign_in()
        #: What was acknowledged: annotator and pair.
        self.acknowledged: Counter[tuple[int, int]] = Counter()
        self._lock = threading.Lock()

    def judge(self, seconds: float, load: Load) -> None:
        """Judge as fast as possible for so many seconds; each goes on when the last answer is acknowledged."""
        ends_at = time.perf_counter() + seconds

        def work(person: Annotator) -> None:
            while (began := time.perf_counter()) < ends_at:
                try:
                    pair = person.next()
                    if pair is None:
                        load.errors.append("nothing left")
                        return
                    person.submit(pair, CHOICES[pair % 3])
                except (OSError, RefusedError) as error:
                    load.errors.append(repr(error))
                    continue
                load.seconds.append(time.perf_counter() - began)
                self.acknowledge(person, pair)

        requests, answers, began = self._requests(), len(load.seconds), time.perf_counter()
        each_in_a_thread(self.people, work)
        lasted = time.perf_counter() - began
        load.lasted += lasted
        load.requests += self._requests() - requests
        load.rates.append((len(load.seconds) - answers) / lasted)

    def acknowledge(self, person: Annotator, pair: int) -> None:
        with self._lock:
            self.acknowledged[person.number, pair] += 1

    def _requests(self) -> int:
        return sum(person.browser.requests for person in self.people)


def loads(sites: dict[str, Site]) -> tuple[dict[int, dict[str, Load]], dict[str, Counter[tuple[int, int]]]]:
    """Measure all sites in turn, with each number of clients; return this, and what was acknowledged."""
    found: dict[int, dict[str, Load]] = {clients: {name: Load() for name in sites} for clients in CLIENTS}
    acknowledged: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in sites}
    first = 0
    for clients in CLIENTS:
        crowds = {name: Crowd(site, range(first, first + clients)) for name, site in sites.items()}
        first += clients
        for crowd in crowds.values():
            crowd.judge(WARMING, Load())
        for _ in range(ROUNDS):
            for name, crowd in crowds.items():
                crowd.judge(SECONDS, found[clients][name])
        for name, crowd in crowds.items():
            acknowledged[name] += crowd.acknowledged
    return found, acknowledged


@dataclass(frozen=True)
class Race:
    """Pairs with exactly k annotations, annotations too many and too few, and the seconds of the race."""

    exact: int
    pairs: int
    over: int
    under: int
    seconds: float
    errors: list[str]


def race(site: Site, *, has_quota: bool) -> Race:
    """Let all annotators claim and submit at once, until there is nothing left for them.

    Without a quota in the tool, each stops after as many pairs as are needed in all.
    """
    crowd = Crowd(site, range(site.project.annotators))
    errors: list[str] = []
    together = threading.Barrier(len(crowd.people))

    def work(person: Annotator) -> None:
        together.wait()
        done: Counter[int] = Counter()
        failures = 0
        # A pair that comes twice is a failure too: somebody would wonder, and go away in the end.
        while (has_quota or len(done) < EACH) and failures + done.total() - len(done) < PATIENT:
            try:
                if (pair := person.next()) is None:
                    break
                person.submit(pair, CHOICES[pair % 3])
                done[pair] += 1
            except (OSError, RefusedError) as error:
                errors.append(repr(error))
                failures += 1
        person.finish()

    began = time.perf_counter()
    each_in_a_thread(crowd.people, work)
    seconds = time.perf_counter() - began
    per_pair = Counter(pair for _person, pair in site.export().answers)
    counts = [per_pair[pair] for pair in range(len(site.project.pairs))]
    k = site.project.k
    return Race(
        exact=counts.count(k), pairs=len(counts), over=sum(max(0, n - k) for n in counts),
        under=sum(max(0, k - n) for n in counts), seconds=seconds, errors=errors,
    )  # fmt: skip


@dataclass(frozen=True)
class Killed:
    """Acknowledged answers; how many of them are lost, and how many are there twice; seconds until it answers again."""

    acknowledged: int
    lost: int
    doubled: int
    restarts: list[float]


def kill(site: Site) -> Killed:
    """Kill the server several times under load; whoever gets no answer submits the same one again."""
    crowd = Crowd(site, range(site.project.annotators))
    over = threading.Event()

    def work(person: Annotator) -> None:
        is_fresh = True
        while not over.is_set():
            try:
                if (pair := person.next()) is None:
                    if is_fresh:
                        return
                    # Signed out by the restart: they open their link again.
                    person.sign_in()
                    is_fresh = True
                    continue
            except (OSError, RefusedError):
                time.sleep(0.05)
                continue
            is_fresh = False
            _insist(person, pair, over, lambda pair=pair: crowd.acknowledge(person, pair))

    threads = [threading.Thread(target=work, args=(person,)) for person in crowd.people]
    for thread in threads:
        thread.start()
    restarts = []
    try:
        for _ in range(KILLS):
            time.sleep(BETWEEN)
            site.kill()
            began = time.perf_counter()
            site.start()
            restarts.append(time.perf_counter() - began)
        time.sleep(BETWEEN)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    stored = site.export().answers
    return Killed(
        acknowledged=len(crowd.acknowledged),
        lost=sum(1 for answer in crowd.acknowledged if stored[answer] == 0),
        doubled=sum(1 for answer in stored if stored[answer] > 1),
        restarts=restarts,
    )


def _insist(person: Annotator, pair: int, over: threading.Event, acknowledge: Callable[[], None]) -> None:
    """Submit one answer until it is acknowledged or refused."""
    while not over.is_set():
        try:
            person.submit(pair, CHOICES[pair % 3])
        except RefusedError as refused:
            # A server that is being killed or is starting may say 5xx: try again. Else the next pair is asked for.
            if not str(refused).startswith("5"):
                return
            time.sleep(0.05)
        except OSError:
            time.sleep(0.05)
        else:
            acknowledge()
            return


@dataclass(frozen=True)
class Export:
    """Seconds of an export, its bytes, its answers, and how many acknowledged ones are missing."""

    seconds: float
    size: int
    answers: int
    missing: int


def export(site: Site, acknowledged: Counter[tuple[int, int]]) -> Export:
    """Export all answers, three times; the median of the seconds."""
    seconds, found = [], Exported(0, Counter())
    for _ in range(3):
        began = time.perf_counter()
        found = site.export()
        seconds.append(time.perf_counter() - began)
    missing = sum(1 for answer in acknowledged if found.answers[answer] == 0)
    return Export(statistics.median(seconds), found.size, sum(found.answers.values()), missing)


@dataclass(frozen=True)
class Opened:
    """A judging page without a cache: requests, bytes over the line, bytes if all text were compressed, seconds."""

    requests: int
    bytes: int
    compressed: int
    seconds: float
    slow_seconds: float


def pages(sites: dict[str, Site]) -> dict[str, Opened]:
    """Open the page of each site in turn in a browser that has nothing in its cache, and once over a slow line."""
    from playwright.sync_api import sync_playwright

    shown = {name: site.page(0) for name, site in sites.items()}
    found: dict[str, list[Opened]] = {name: [] for name in sites}
    slow: dict[str, float] = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM") or None)
        for opening in range(OPENINGS + 1):
            for name, site in sites.items():
                page, is_slow = shown[name], opening == OPENINGS
                opened = _open(chromium, f"http://localhost:{site.port}", page, slow=is_slow)
                if is_slow:
                    slow[name] = opened.seconds
                else:
                    found[name].append(opened)
        chromium.close()
    return {
        name: Opened(
            rows[-1].requests, rows[-1].bytes, rows[-1].compressed,
            statistics.median(row.seconds for row in rows), slow[name],
        )
        for name, rows in found.items()
    }  # fmt: skip


def _open(chromium, address: str, page, *, slow: bool) -> Opened:
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": name, "value": value, "url": address} for name, value in page.cookies.items()])
    tab = context.new_page()
    line = context.new_cdp_session(tab)
    line.send("Network.enable")
    if slow:
        line.send("Network.emulateNetworkConditions", SLOW)
    lengths: list[float] = []
    line.on("Network.loadingFinished", lambda event: lengths.append(event["encodedDataLength"]))
    responses: list = []
    tab.on("response", lambda response: responses.append(response))  # noqa: PLW0108 -- it cannot wrap a built-in
    began = time.perf_counter()
    tab.goto(address + page.url, wait_until="commit")
    tab.locator(page.ready).first.wait_for(state="visible")
    tab.wait_for_load_state("load")  # with its scripts
    seconds = time.perf_counter() - began
    if not slow:
        tab.wait_for_load_state("networkidle")
    compressed = 0 if slow else sum(map(_compressed, responses))
    context.close()
    return Opened(len(lengths), round(sum(lengths)), compressed, seconds, 0.0)


def _compressed(response) -> int:
    """Return the bytes of a body as gzip of level 6 would send it, if it is text; else as it is."""
    from playwright.sync_api import Error

    try:
        body = response.body()
    except Error:  # a redirect has none
        return 0
    kind = response.headers.get("content-type", "")
    return len(gzip.compress(body, 6)) if any(part in kind for part in TEXT) else len(body)


def each_in_a_thread(people: list[Annotator], work: Callable[[Annotator], None]) -> None:
    """Do the same for all annotators at once; raise the first error."""
    errors: list[Exception] = []

    def guarded(person: Annotator) -> None:
        try:
            work(person)
        except Exception as error:  # noqa: BLE001 -- raised below, in the caller's own thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
