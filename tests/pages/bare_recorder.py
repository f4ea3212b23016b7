"""A bare page with a text field, recorded by the product's own modules; and random edits of it in a real browser.

The page comes from the test itself, without a server: what is tried is the recorder alone.
"""

import random
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Page, Route

from writing.editor import codec, event_validation

STATIC = Path(__file__).resolve().parents[2] / "static"
# A secure context, as in production; nothing listens there.
ORIGIN = "http://localhost:1"
PAGE = """<!doctype html><meta charset="utf-8"><title>recorder</title>
<form><textarea id="text" rows="12" cols="60"></textarea></form>
<div id="passages"><p data-rank="0">The quick brown fox jumps over the lazy dog near the river bank.</p>
<p data-rank="3"><b>Doc 3</b>
<span data-passage-text>Žluťoučký kůň 😀 pěl ďábelské ódy na louce za městem.</span></p></div>
<p id="else">Something else that stands on the page and in no passage at all.</p>
<script type="module">
import {Recorder} from "/static/js/editor/log/recorder.js";
import {Clipboard} from "/static/js/editor/log/clipboard.js";
import {replayed, clean} from "/static/js/editor/log/text.js";
const field = document.querySelector("#text");
Object.assign(window, {field, replayed, clean});
window.begin = (base) => {
  window.recorder?.stop();
  window.listening?.abort();
  field.value = base;
  window.log = [["s", 0, 0, 0, clean(field.value), "restored", ""]];
  const record = (kind, ...fields) => log.push([kind, Math.round(performance.now()), ...fields]);
  window.recorder = new Recorder(field, record, () => {});
  recorder.start();
  window.listening = new AbortController();
  new Clipboard(field, record, () => recorder.text).start(listening.signal);
  field.focus();
  field.setSelectionRange(base.length, base.length);
};
const acts = {
  type: (text) => document.execCommand("insertText", false, text),
  delete: () => document.execCommand("delete"),
  forward: () => document.execCommand("forwardDelete"),
  undo: () => document.execCommand("undo"),
  redo: () => document.execCommand("redo"),
  all: () => field.select(),
  select: (from, to) => {
    const n = field.value.length;
    const [a, b] = [Math.floor(from * n), Math.floor(to * n)];
    field.setSelectionRange(Math.min(a, b), Math.max(a, b));
  },
  value: (text, at) => {
    const i = Math.floor(at * field.value.length);
    field.value = field.value.slice(0, i) + text + field.value.slice(i + 2);
  },
  range: (text, from, to) => {
    const n = field.value.length;
    const [a, b] = [Math.floor(from * n), Math.floor(to * n)].sort((x, y) => x - y);
    field.setRangeText(text, a, b, "end");
  },
  // What an extension does: changes the value and says so, by an event of its own.
  scripted: (text) => {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new InputEvent("input", {inputType: "insertReplacementText", bubbles: true}));
  },
  reset: () => field.form.reset(),
  cite: (text, at) => {
    const i = Math.floor(at * field.value.length);
    recorder.insert(text, {start: i, end: i, source: "cited"});
  },
  restore: (text) => recorder.replace(text, "restored"),
  poll: () => recorder.poll(),
  blur: () => { field.blur(); field.focus(); },
};
window.run = (script) => { for (const [name, ...args] of script) acts[name](...args); };
window.result = () => {
  recorder.stop();
  let text = "";
  for (const event of log) if (event[0] === "s") text = replayed(text, ...event.slice(2, 5));
  return {value: field.value, log, recorded: recorder.text, replayed: text};
};
window.ready = true;
</script>"""

PIECES = [
    *"abc aaa é ñ ß 中 あ ع א",
    "😀",
    "👩‍👩‍👧",
    "🇨🇿",
    "e\u0301",
    "a\u0308\u0323",
    "مرحبا",
    "שלום",
    "\u200f",
    "\n",
    "\r\n",
    "line\r\nbreak\rold",
    "\t",
    "𝔘𝔫𝔦",
    "aaaa",
    " [12]",
    "\ud83d",  # half of a pair, as buggy programs put in
    "\ude00",
    "\0",
    "long " * 60,
]
IN_PAGE = ["type"] * 6 + ["delete"] * 3 + ["forward", "undo", "undo", "redo", "all", "select", "select", "select"]
IN_PAGE += ["value", "range", "scripted", "cite", "restore", "poll", "blur", "reset"]
OUTSIDE = ["key", "key", "compose", "compose", "paste", "cut", "emoji", "caret", "wordwise"]
# What cannot travel to the browser as JSON text is written as a script there.
KEYS = ["a", "Enter", "Backspace", "Delete", " ", "ArrowLeft", "Home", "Z", "."]


def serve(context: BrowserContext) -> None:
    """Answer the bare page and the product's modules."""

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN).split("?")[0]
        if path.startswith("/static/"):
            route.fulfill(path=STATIC / path.removeprefix("/static/"), content_type="text/javascript")
        else:
            route.fulfill(body=PAGE, content_type="text/html; charset=utf-8")

    context.route(f"{ORIGIN}/**", answer)


def opened(page: Page) -> Page:
    """Open the bare page."""
    page.goto(f"{ORIGIN}/")
    page.wait_for_function("window.ready")
    return page


def script(seed: str) -> list[list[Any]]:
    """Return a random script of edits; the same for the same seed."""
    rng = random.Random(seed)
    made: list[list[Any]] = []
    for _ in range(rng.randint(3, 18)):
        name = rng.choice(OUTSIDE) if rng.random() < 0.25 else rng.choice(IN_PAGE)
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 3)))
        if name in ("type", "scripted", "restore"):
            made.append([name, text])
        elif name in ("value", "cite"):
            made.append([name, text, rng.random()])
        elif name == "range":
            made.append([name, text, rng.random(), rng.random()])
        elif name == "select":
            made.append([name, rng.random(), rng.random()])
        elif name == "key":
            made.append([name, rng.choice(KEYS)])
        elif name == "compose":
            made.append([name, rng.choice(["にほんご", "ni", "e\u0301", "word", "中文"]), rng.random() < 0.7])
        else:
            made.append([name])
    return made


def carry_out(page: Page, cdp: CDPSession, base: str, acts: list[list[Any]]) -> dict[str, Any]:
    """Carry out a script, acts within the page together, acts from outside one by one; return what was recorded."""
    together: list[list[Any]] = []
    page.evaluate("base => begin(base)", base)
    for act in acts:
        if act[0] in OUTSIDE:
            if together:
                page.evaluate("script => run(script)", together)
                together = []
            outside(cdp, *act)
        else:
            together.append(act)
    page.evaluate("script => run(script)", together)
    found: dict[str, Any] = page.evaluate("result()")
    return found


def outside(cdp: CDPSession, name: str, *args: Any) -> None:
    """Do what keys, input methods and menus do, as the browser hears of it."""
    match name:
        case "key":
            _press(cdp, args[0])
        case "compose":
            text, kept = args
            for end in range(1, len(text) + 1):
                part = text[:end]
                cdp.send("Input.imeSetComposition", {"text": part, "selectionStart": end, "selectionEnd": end})
            if kept:
                cdp.send("Input.insertText", {"text": text})
            else:
                cdp.send("Input.imeSetComposition", {"text": "", "selectionStart": 0, "selectionEnd": 0})
        case "emoji":
            cdp.send("Input.insertText", {"text": "🫠"})
        case "command":
            _command(cdp, args[0])
        case _:
            _command(cdp, {"caret": "moveLeft", "wordwise": "deleteWordBackward"}.get(name, name))


def _press(cdp: CDPSession, key: str) -> None:
    codes = {"Enter": 13, "Backspace": 8, "Delete": 46, "ArrowLeft": 37, "Home": 36}
    text = "\r" if key == "Enter" else key if len(key) == 1 else ""
    what = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 65)}
    cdp.send("Input.dispatchKeyEvent", {"type": "keyDown", **what, **({"text": text} if text else {})})
    cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", **what})


def _command(cdp: CDPSession, command: str) -> None:
    what = {"key": "F13", "code": "F13"}
    cdp.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "commands": [command], **what})
    cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", **what})


def clean(text: str) -> str:
    """Return a text as the log holds it: without U+0000 and halves of surrogate pairs."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", "\ufffd")


def check(result: dict[str, Any]) -> None:
    """Fail unless the log is one that the server takes, and rebuilds the field's text."""
    log = result["log"]
    event_validation.check_events(log)
    assert codec.final_text(log) == clean(result["value"]) == result["recorded"] == result["replayed"]
    times = [event[1] for event in log]
    assert times == sorted(times)
