/** The replay on a page: fetches the log, starts the player, and ties controls, keys, passages and citations to it. */

import { all, delegate } from "../ui/event-delegation.js";
import { init as citations } from "./citations.js";
import { listen } from "./shortcuts.js";
import { jumps, KINDS, list, sum } from "./moments-list.js";
import { Passages } from "./passages.js";
import { Player } from "./player.js";
import { actions, init as reviewing } from "../review/decision-shortcuts.js";

const STEP = 5000;

/** @template {Element} T @param {ParentNode} root @param {string} name @param {new () => T} type @returns {T} */
function part(root, name, type) {
  const found = root.querySelector(name);
  if (!(found instanceof type)) throw new Error(`The page has no ${name}.`);
  return found;
}

/** @param {string} address @returns {Promise<import("./moments.js").Log>} */
async function fetched(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.message ?? `The log could not be read (${answer.status}). Reload the page.`);
}

/** What of a response is shown: as it was handed in, or at a moment. */
class Views {
  /** @param {HTMLElement} frame */
  constructor(frame) {
    this.response = part(frame, "[data-replay-response]", HTMLElement);
    this.sheet = part(frame, "[data-replay-sheet]", HTMLElement);
    this.choice = part(frame, "[data-replay-views]", HTMLElement);
    this.choice.hidden = false;
  }

  get replaying() {
    return !this.sheet.hidden;
  }

  /** @param {boolean} replay */
  show(replay) {
    if (replay === this.replaying) return;
    // The page must not jump: the text that comes is given the room of the one that goes.
    const { height } = (replay ? this.response : this.sheet).getBoundingClientRect();
    this.sheet.hidden = !replay;
    this.response.hidden = replay;
    if (replay && CSS.supports("height", "1px")) this.sheet.style.minHeight = `${Math.round(height)}px`;
    part(this.choice, `[value=${replay ? "replay" : "response"}]`, HTMLInputElement).checked = true;
  }
}

/** @param {Player} player @param {Views} views @param {(text: string) => void} say @returns {Record<string, (event: KeyboardEvent) => void>} */
function keys(player, views, say) {
  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const found = {
    k: () => player.toggle(),
    j: () => player.seek(player.at - STEP),
    l: () => player.seek(player.at + STEP),
    ",": () => player.step(-1),
    ".": () => player.step(1),
    "-": () => player.faster(-1),
    "+": () => player.faster(1),
    "=": () => player.faster(1),
    0: () => player.seek(0),
    9: () => player.seek(player.axis.total),
    r: () => views.show(!views.replaying),
  };
  for (const [kind, , key] of KINDS) found[key] = (event) => say(player.jump(kind, event.shiftKey ? -1 : 1));
  return found;
}

/** @param {KeyboardEvent} event @param {Player} player the slider's own keys, by time as shown */
function slide(event, player) {
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -6 * STEP, PageUp: 6 * STEP };
  if (event.key === " ") player.toggle();
  else if (event.key === "Home") player.seek(0);
  else if (event.key === "End") player.seek(player.axis.total);
  else if (event.key in steps) player.seek(player.at + steps[event.key] * (event.shiftKey ? 0.2 : 1));
  else return;
  event.preventDefault();
}

/** @param {HTMLElement} frame @param {Player} player */
function branches(frame, player) {
  const place = part(frame, "[data-replay-branches]", HTMLElement);
  for (const branch of player.log.branches) {
    const box = document.createElement("details");
    box.className = "more";
    const title = document.createElement("summary");
    title.textContent = `Also written in session ${branch.session + 1}, while the text continued in another session (not part of the response)`;
    const text = document.createElement("div");
    text.className = "response";
    text.textContent = branch.text;
    box.append(title, text);
    place.append(box);
    place.hidden = false;
  }
}

/**
 * @param {HTMLElement} frame
 * @param {import("./moments.js").Log} log
 * @param {Passages} passages
 * @returns {{player: Player, keys: Record<string, (event: KeyboardEvent) => void>}}
 */
function start(frame, log, passages) {
  part(frame, "[data-replay-page]", HTMLElement).hidden = false;
  const views = new Views(frame);
  const slider = part(frame, "#replay-slider", HTMLInputElement);
  const time = part(frame, "[data-replay-time]", HTMLElement);
  const said = part(frame, "[data-replay-said]", HTMLElement);
  const say = (/** @type {string} */ text) => (said.textContent = text);
  const player = new Player(log, { sheet: views.sheet, timeline: part(frame, "[data-replay-timeline]", SVGSVGElement), slider, time });
  part(frame, "[data-replay-sum]", HTMLElement).textContent = sum(log);
  const moments = part(frame, "[data-replay-moments]", HTMLDetailsElement);
  moments.hidden = !player.moments.length;
  part(moments, "[data-replay-count]", HTMLElement).textContent = String(player.moments.length);
  list(part(moments, "ol", HTMLElement), player);
  jumps(part(frame, "[data-replay-jumps]", HTMLElement), player);
  branches(frame, player);
  for (const key of frame.querySelectorAll("[data-live]")) if (key instanceof HTMLElement) key.hidden = !log.has_keys;

  const playing = part(frame, "[data-replay-play]", HTMLElement);
  player.addEventListener("state", () => {
    playing.textContent = player.playing ? "Pause" : "Play";
    if (player.playing) views.show(true);
    else say(`Paused at ${time.textContent}`);
  });
  player.addEventListener("moved", () => views.show(true));
  player.addEventListener("moment", (event) => {
    const { t, arrival } = /** @type {CustomEvent<import("./player.js").Now>} */ (event).detail;
    const { place = -2, t: came = 0 } = log.arrivals[arrival] ?? {};
    if (views.replaying) passages.show(t, t - came < 2000 * player.choices.speed ? place : -2);
  });
  const chosen = () => {
    for (const select of frame.querySelectorAll("[data-replay-choice]")) {
      if (!(select instanceof HTMLSelectElement)) continue;
      select.value = String(player.choices[/** @type {keyof import("./player.js").Choices} */ (select.dataset.replayChoice)]);
    }
  };
  chosen();
  player.addEventListener("choice", chosen);
  slider.addEventListener("input", () => player.seek(Number(slider.value)));
  slider.addEventListener("keydown", (event) => slide(event, player));
  delegate(frame, "click", "[data-replay-do=toggle]", () => player.toggle());
  delegate(frame, "change", "[data-replay-choice]", (select) => {
    if (!(select instanceof HTMLSelectElement)) return;
    const name = /** @type {keyof import("./player.js").Choices} */ (select.dataset.replayChoice);
    player.choose(name, /** @type {never} */ (name === "deletions" ? select.value : Number(select.value)));
  });
  delegate(frame, "change", "[name=replay-view]", (choice) => {
    views.show(choice instanceof HTMLInputElement && choice.value === "replay");
    if (!views.replaying) passages.clear();
  });
  delegate(frame, "click", "[data-jump]", (pressed) => {
    const kind = /** @type {import("./moments.js").Kind} */ (pressed.dataset.jump);
    say(player.jump(kind, pressed.dataset.way === "1" ? 1 : -1));
  });
  delegate(document, "click", "[data-replay-at]", (pressed) => {
    player.pause();
    player.seekReal(Number(pressed.dataset.replayAt));
    frame.scrollIntoView({ block: "start" });
  });
  player.seekReal(log.end);
  views.show(false);
  return { player, keys: keys(player, views, say) };
}

/** @param {Document} root */
export async function init(root) {
  const frame = root.querySelector("[data-replay]");
  const passageList = root.querySelector("[data-replay-passages]");
  const nothing = /** @type {any} */ ({ open: [], view: [] });
  let passages = new Passages(passageList instanceof HTMLElement ? passageList : null, nothing);
  all(citations(root, { reveal: (item) => passages.reveal(item) }), reviewing(root));
  /** @type {Record<string, (event: KeyboardEvent) => void>} */
  const doing = { ...actions(root), "?": () => part(root, "[data-opens='#replay-help']", HTMLElement).click() };
  listen(root, doing);
  if (!(frame instanceof HTMLElement) || !frame.dataset.log) return;
  const wait = part(frame, "[data-replay-wait]", HTMLElement);
  try {
    const log = await fetched(frame.dataset.log);
    passages = new Passages(passageList instanceof HTMLElement ? passageList : null, log);
    const started = start(frame, log, passages);
    Object.assign(doing, started.keys);
    wait.remove();
    frame.dataset.ready = "yes";
    // For tests and for whoever looks at a log in the console.
    Object.assign(frame, { player: started.player });
  } catch (error) {
    wait.replaceChildren(error instanceof Error ? error.message : String(error));
    wait.className = "note note--bad";
  }
}

init(document);
