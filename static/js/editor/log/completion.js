/** The end of writing: the server has everything, and rebuilds the same text from it. */

import { sha256 } from "./digest.js";
import { postAsWriter } from "./requests.js";
import { Backoff } from "./sleep.js";

/** A session that is over is asked for again this often, in milliseconds. */
const ASK_AGAIN = 15_000;

/**
 * Say that the text is done, however long it takes to be heard.
 * @param {import("./session.js").Writing} writing
 * @param {AbortSignal} stop the writer would rather go on writing
 * @returns {Promise<{next: string} | {problem: string}>}
 */
export async function finished(writing, stop) {
  const stopped = new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  const backoff = new Backoff();
  let repaired = false;
  for (;;) {
    const text = writing.text();
    const { outbox } = writing;
    if (!outbox || !writing.clock || writing.phase !== "writing") return { problem: writing.state.phase };
    outbox.add(["h", writing.clock.now(), sha256(text).slice(0, 16)]);
    writing.tell();
    await Promise.race([outbox.flushed(), stopped]);
    if (stop.aborted) return { problem: "stopped" };
    if (outbox.over) return { problem: "closed" };
    if (outbox !== writing.outbox) continue;
    const said = { session: outbox.row.session, events: outbox.events.end, digest: sha256(text) };
    const { status, body, after } = await postAsWriter(writing.urls.finish, said);
    if (status === 200 && body.next) return { next: body.next };
    writing.offline = status === 0;
    if (body.problem === "fenced") writing.fence();
    else if (body.problem === "closed") writing.close(body.next ?? "");
    if (body.problem === "differs" && !repaired) {
      // It must not happen; if it does, the text that the writer sees is put in anew.
      repaired = true;
      writing.restarted = -Infinity;
      await writing.restart();
      writing.field.readOnly = true;
    } else if (body.problem && body.problem !== "behind") return { problem: body.problem };
    else {
      if (status === 403) writing.phase = "expired";
      writing.tell();
      await Promise.race([writing.wake.sleep(after || (status === 403 ? ASK_AGAIN : backoff.next())), stopped]);
      if (writing.phase === "expired") writing.phase = "writing";
      if (stop.aborted) return { problem: "stopped" };
    }
  }
}
