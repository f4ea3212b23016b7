/** What earlier sessions left in this browser is sent before a new one begins. */

import { Outbox } from "./outbox.js";
import { stale } from "./event-store.js";

/**
 * Send what earlier sessions left.
 * @param {import("./session.js").Writing} writing
 * @param {(row: import("./event-store.js").Row) => boolean} which
 * @param {number} patience milliseconds
 * @returns {Promise<Outbox[]>} those that could not be sent in time; they go on trying
 */
export async function recover(writing, which, patience) {
  const left = [];
  const last = performance.now() + patience;
  for (const { row, chunks } of await writing.store.all()) {
    if (!which(row) || (row.session === writing.outbox?.row.session && row.home === writing.urls.session)) continue;
    const outbox = new Outbox(writing.store, row, () => writing.saved(outbox));
    outbox.restore(chunks);
    if (outbox.unacked) {
      writing.retired.push(outbox);
      void outbox.run();
      writing.tell();
      // A refused session is retried for as long as the page is open; it holds nobody up.
      outbox.stuck = () => outbox.progress.wake();
      while (outbox.unacked && !outbox.over && !outbox.refused && performance.now() < last) {
        await outbox.flushed(Math.min(1000, last - performance.now()));
      }
    }
    if (outbox.over) writing.retired = writing.retired.filter((each) => each !== outbox);
    if (outbox.unacked) left.push(outbox);
    if (!outbox.unacked || stale(row)) await writing.store.forget((each) => each.home === row.home && each.session === row.session);
  }
  return left;
}
