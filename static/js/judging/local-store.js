/**
 * What this browser keeps until the server has it. Storage may be forbidden or full: then `keep` says so, and it holds as
 * long as the page does.
 */

export class Kept {
  /** @param {string} home */
  constructor(home) {
    this.home = `crowdrag-judging:${home}:`;
    /** Whether the last thing to be kept was. */
    this.holds = true;
  }

  /** @param {string} name @returns {any} null where nothing is kept, or nothing that can be read */
  read(name) {
    try {
      return JSON.parse(localStorage.getItem(this.home + name) ?? "null");
    } catch {
      return null;
    }
  }

  /** @param {string} name @param {unknown} value null: nothing any more */
  keep(name, value) {
    try {
      if (value === null) localStorage.removeItem(this.home + name);
      else localStorage.setItem(this.home + name, JSON.stringify(value));
      this.holds = true;
    } catch {
      this.holds = false;
    }
  }

  /** Forget all of it: the questionnaire was handed in. */
  clear() {
    try {
      for (const name of Object.keys(localStorage)) if (name.startsWith(this.home)) localStorage.removeItem(name);
    } catch {
      // What cannot be written cannot have been kept.
    }
  }

  /**
   * Tell of what another tab keeps.
   * @param {(name: string, value: any) => void} changed
   */
  watch(changed) {
    window.addEventListener("storage", ({ key, newValue }) => {
      if (!key?.startsWith(this.home)) return;
      try {
        changed(key.slice(this.home.length), JSON.parse(newValue ?? "null"));
      } catch {
        // Nothing that this page wrote.
      }
    });
  }
}
