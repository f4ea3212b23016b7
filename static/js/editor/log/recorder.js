/**
 * Records each change of a text field as splices, and caret, keys and selection. The field's value before and after
 * counts: input methods, phones and extensions change it in ways that no key shows.
 */

import { keyClass, sourceOf } from "./change-sources.js";
import { apply, clean, difference, points, splices } from "./text.js";

/** Changes that come without an event are looked for this often, in milliseconds. */
const POLL = 500;
/** A text that is set as a whole rather than typed into the field. */
const LONG_TEXT = 100_000;
/** Carets that move within this time are one move. */
const CARET = 100;

/**
 * @typedef {(kind: string, ...fields: (string | number)[]) => void} Record
 */

export class Recorder {
  /**
   * @param {HTMLTextAreaElement} field its value is what has been recorded so far
   * @param {Record} record
   * @param {() => void} changed called after each change of the text
   */
  constructor(field, record, changed) {
    this.field = field;
    this.record = record;
    this.changed = changed;
    this.text = clean(field.value);
    /** Splices of one change are being written: the text in between is no text that anybody saw. */
    this.amid = false;
    /** @type {[number, number] | null} the selection when the browser announced a change */
    this.before = null;
    /** @type {[number, number]} where the log says that the caret stands */
    this.caret = this.selection();
    /** @type {{source: string} | null} set while the page itself puts something in */
    this.own = null;
    /** @type {Map<string, {name: string, down: number}>} */
    this.keys = new Map();
    this.timer = 0;
    this.listening = new AbortController();
  }

  start() {
    const options = { signal: this.listening.signal, capture: true };
    const { field } = this;
    field.addEventListener("beforeinput", () => this.announced(), options);
    field.addEventListener("input", (event) => this.entered(event), options);
    field.addEventListener("keydown", (event) => this.down(event), options);
    field.addEventListener("keyup", (event) => this.up(event), options);
    field.addEventListener("blur", () => this.released(), options);
    field.addEventListener("focus", () => this.poll(), options);
    field.form?.addEventListener("reset", () => setTimeout(() => this.poll()), options);
    document.addEventListener("selectionchange", () => this.moved(), options);
    document.addEventListener("visibilitychange", () => this.poll(), options);
    window.addEventListener("pageshow", () => this.poll(), options);
    const beat = setInterval(() => this.poll(), POLL);
    this.listening.signal.addEventListener("abort", () => clearInterval(beat));
  }

  stop() {
    this.poll();
    this.placed();
    this.released();
    clearTimeout(this.timer);
    this.listening.abort();
  }

  /** Record a change without an event, for example by an extension. */
  poll() {
    if (this.listening.signal.aborted) return;
    const value = clean(this.field.value);
    if (value !== this.text) this.change(value, "external", "", null, null);
  }

  /**
   * @param {string} text to insert so that the browser can undo it
   * @param {{start: number, end: number, source: string, caret?: number}} where offsets as in `selectionStart`
   */
  insert(text, { start, end, source, caret }) {
    const { field } = this;
    this.poll();
    field.focus({ preventScroll: true });
    field.setSelectionRange(start, end);
    this.placed();
    const value = field.value;
    this.own = { source };
    try {
      // Deprecated, and the only way that keeps undo.
      document.execCommand(text ? "insertText" : "delete", false, text);
    } catch {
      // Not there: below.
    }
    if (field.value === value && (text || end > start)) field.setRangeText(text, start, end, "end");
    const after = clean(field.value);
    if (after !== this.text) this.change(after, source, "", [start, end], start + text.length);
    this.own = null;
    if (caret !== undefined) field.setSelectionRange(caret, caret);
    this.placed();
  }

  /** Replace the text; unless it is very long, the browser can undo it. @param {string} text @param {string} source */
  replace(text, source) {
    this.poll();
    if (text.length < LONG_TEXT) return this.insert(text, { start: 0, end: this.field.value.length, source });
    this.field.value = text;
    const value = clean(this.field.value);
    if (value !== this.text) this.change(value, source, "", null, null);
  }

  announced() {
    this.poll();
    this.placed();
    this.before = this.selection();
  }

  /** @param {Event} event */
  entered(event) {
    const value = clean(this.field.value);
    const { inputType = "", isComposing = false } = event instanceof InputEvent ? event : {};
    const before = this.before;
    this.before = null;
    if (value === this.text) return;
    // Composed text replaces itself with every key; of that the smallest change is wanted, not the whole.
    const known = { inputType, isComposing, isTrusted: event.isTrusted };
    const selection = isComposing || inputType === "insertCompositionText" ? null : before;
    const caret = this.field.selectionEnd;
    const change = difference(this.text, value, selection, caret);
    const corrects = before !== null && before[0] === before[1] && change.end > change.start && change.inserted !== "";
    this.write(change, this.own?.source ?? sourceOf(known, corrects), inputType);
  }

  /**
   * @param {string} value
   * @param {string} source
   * @param {string} inputType
   * @param {[number, number] | null} selection
   * @param {number | null} caret
   */
  change(value, source, inputType, selection, caret) {
    this.write(difference(this.text, value, selection, caret), source, inputType);
  }

  /** @param {import("./text.js").Change} change @param {string} source @param {string} inputType */
  write(change, source, inputType) {
    this.amid = true;
    for (const splice of splices(this.text, change)) this.record("s", ...splice, source, inputType);
    this.amid = false;
    this.text = apply(this.text, change);
    const end = change.start + change.inserted.length;
    this.caret = [end, end];
    this.changed();
  }

  /** @returns {[number, number]} */
  selection() {
    return [this.field.selectionStart, this.field.selectionEnd];
  }

  moved() {
    if (document.activeElement !== this.field || this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.placed();
    }, CARET);
  }

  /** Record the caret's position, unless the log has it: after a splice it is at its end. */
  placed() {
    const [start, end] = this.selection();
    if (start === this.caret[0] && end === this.caret[1]) return;
    // A change that is still to be seen moves the caret too, within a text that the log does not have yet.
    if (end > this.text.length || clean(this.field.value) !== this.text) return;
    this.caret = [start, end];
    this.record("c", points(this.text, start), points(this.text, end));
  }

  /** @param {KeyboardEvent} event */
  down(event) {
    if (!event.isTrusted || event.repeat) return;
    const id = event.code || event.key;
    if (this.keys.has(id)) this.release(id);
    this.keys.set(id, { name: keyClass(event), down: performance.now() });
  }

  /** @param {KeyboardEvent} event */
  up(event) {
    if (!event.isTrusted) return;
    this.release(event.code || event.key);
    // macOS tells of no key that goes up while Command is down.
    if (event.key === "Meta") this.released();
  }

  /** @param {string} id */
  release(id) {
    const key = this.keys.get(id);
    if (!key) return;
    this.keys.delete(id);
    this.record("k", key.name, Math.max(0, Math.round(performance.now() - key.down)));
  }

  /** The keyboard is gone: what is down now will go up unheard. */
  released() {
    for (const id of [...this.keys.keys()]) this.release(id);
  }
}
