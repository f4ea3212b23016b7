/**
 * Keeps what is not acknowledged in IndexedDB: a row per session, and its events in chunks. Without IndexedDB, it is kept
 * in memory, and the page says so. When a page goes away, the rest is put into localStorage, which is written at once.
 */

const NAME = "crowdrag-writing";
const RESCUE = "crowdrag-writing:";
/** Longer than this no page waits for a browser whose storage hangs, in milliseconds. */
const PATIENCE = 3000;
/** What nobody takes any more (its task is over) is kept for this long. */
const KEPT = 30 * 24 * 3600 * 1000;

/**
 * @typedef {(string | number)[]} LogEvent
 * @typedef {{number: number, first: number, count: number}} Frame
 * @typedef {object} Row A session as it is kept.
 * @property {string} home where its task's sessions are opened: known by it
 * @property {number} session
 * @property {string} token
 * @property {string} log where events go
 * @property {number} acked events that the server has
 * @property {number} batch number of the next batch
 * @property {Frame[]} frames batches that are numbered and not acknowledged
 * @property {string} text the text, and
 * @property {number} textAt after how many events it was so
 * @property {number} at when it was last used
 * @typedef {{first: number, events: LogEvent[]}} Chunk
 * @typedef {{row: Row, chunks: Chunk[]}} Kept
 */

/** @param {Row} row @returns {[string, number]} */
const keyOf = (row) => [row.home, row.session];

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @template T @param {Promise<T>} promise @returns {Promise<T>} */
function soon(promise) {
  return Promise.race([
    promise,
    /** @type {Promise<never>} */ (new Promise((_, reject) => setTimeout(() => reject(new Error("slow")), PATIENCE))),
  ]);
}

/** @returns {Promise<IDBDatabase>} */
function connect() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("rows");
    request.result.createObjectStore("chunks");
  };
  return done(request);
}

export class Store {
  constructor() {
    /** @type {IDBDatabase | null} */
    this.database = null;
    /** "storage" without IndexedDB, "full" when it takes no more. */
    this.problem = "";
    /** Where it hangs or is missing, it is not tried again before this time. */
    this.notBefore = 0;
  }

  async open() {
    if (performance.now() < this.notBefore) return;
    try {
      const database = await soon(connect());
      // The browser may close it (the reader clears their data), and another version of the page may want to change it.
      database.onclose = database.onversionchange = () => {
        database.close();
        this.database = null;
      };
      this.database = database;
      this.problem = "";
    } catch {
      this.problem = "storage";
      this.notBefore = performance.now() + 5 * PATIENCE;
    }
  }

  /**
   * @template T
   * @param {IDBTransactionMode} mode
   * @param {(rows: IDBObjectStore, chunks: IDBObjectStore) => T} act
   * @returns {Promise<T>} once it is on the disk
   */
  async transaction(mode, act) {
    if (!this.database) await this.open();
    if (!this.database) throw new Error("no database");
    const transaction = this.database.transaction(["rows", "chunks"], mode, { durability: "strict" });
    const result = act(transaction.objectStore("rows"), transaction.objectStore("chunks"));
    await soon(
      new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve(null);
        transaction.onabort = transaction.onerror = () => reject(transaction.error);
      }),
    );
    return result;
  }

  /**
   * Keep a row, add events, and drop what is acknowledged.
   * @param {Row} row
   * @param {Chunk | null} chunk
   * @returns {Promise<boolean>} whether all of it is on the disk
   */
  async keep(row, chunk) {
    try {
      await this.transaction("readwrite", (rows, chunks) => {
        rows.put(row, keyOf(row));
        if (chunk?.events.length) chunks.put(chunk, [...keyOf(row), chunk.first]);
      });
      this.problem = "";
      return true;
    } catch (error) {
      this.problem = error instanceof DOMException && error.name === "QuotaExceededError" ? "full" : "storage";
      return false;
    }
  }

  /**
   * Drop the chunks whose events are all acknowledged.
   * @param {Row} row
   * @param {number[]} firsts
   */
  async drop(row, firsts) {
    try {
      await this.transaction("readwrite", (_, chunks) => firsts.forEach((first) => chunks.delete([...keyOf(row), first])));
    } catch {
      // They are sent again some day, and recognised.
    }
  }

  /** @returns {Promise<Kept[]>} every session that is kept, oldest first, with what the last resort saved */
  async all() {
    /** @type {Map<string, Kept>} */
    const found = new Map();
    try {
      const reads = await this.transaction("readonly", (rows, chunks) => ({
        rows: rows.getAll(),
        keys: chunks.getAllKeys(),
        chunks: chunks.getAll(),
      }));
      for (const row of reads.rows.result) found.set(JSON.stringify(keyOf(row)), { row, chunks: [] });
      reads.chunks.result.forEach((chunk, i) => {
        const key = /** @type {[string, number, number]} */ (reads.keys.result[i]);
        found.get(JSON.stringify(key.slice(0, 2)))?.chunks.push(chunk);
      });
    } catch {
      this.problem ||= "storage";
    }
    for (const { row, chunks } of rescued()) {
      const known = found.get(JSON.stringify(keyOf(row)));
      if (!known) found.set(JSON.stringify(keyOf(row)), { row, chunks });
      else {
        known.chunks.push(...chunks);
        // Written last of all, so its text is the latest.
        if (row.textAt > known.row.textAt) Object.assign(known.row, { text: row.text, textAt: row.textAt });
      }
    }
    return [...found.values()].sort((a, b) => a.row.session - b.row.session);
  }

  /**
   * Forget sessions: of one task all, otherwise those that nobody takes any more.
   * @param {(row: Row) => boolean} which
   */
  async forget(which) {
    for (const { row, chunks } of await this.all()) {
      if (!which(row)) continue;
      unrescue(row);
      try {
        await this.transaction("readwrite", (rows, all) => {
          rows.delete(keyOf(row));
          chunks.forEach((chunk) => all.delete([...keyOf(row), chunk.first]));
        });
      } catch {
        // Next time.
      }
    }
  }
}

/** @param {Row} row @returns {boolean} whether it has been of no use for long */
export const stale = (row) => Date.now() - row.at > KEPT;

/** @param {Row} row */
const rescueKey = (row) => RESCUE + JSON.stringify(keyOf(row));

/**
 * Keep at once, while the page goes away, what IndexedDB has not confirmed.
 * @param {Row} row
 * @param {Chunk} chunk
 * @returns {boolean} whether it worked
 */
export function rescue(row, chunk) {
  try {
    localStorage.setItem(rescueKey(row), JSON.stringify({ row, chunks: [chunk] }));
    return true;
  } catch {
    return false;
  }
}

/** @param {Row} row */
export function unrescue(row) {
  try {
    localStorage.removeItem(rescueKey(row));
  } catch {
    // Then nothing was kept there either.
  }
}

/** @returns {Kept[]} */
function rescued() {
  /** @type {Kept[]} */
  const found = [];
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(RESCUE)) found.push(JSON.parse(localStorage.getItem(key) ?? ""));
    }
  } catch {
    // No storage, or nothing that can be read.
  }
  return found;
}
