/** Requests to the server, with what their answers mean told apart. */

/** A connection that says nothing for this long is gone, in milliseconds. */
const PATIENCE = 20_000;

/**
 * @typedef {object} Answer
 * @property {number} status 0 where there was none: no network, or no answer in time
 * @property {any} body JSON, {} where it was none
 * @property {number} after milliseconds until the server wants to be asked again, 0 if it does not say
 * @property {boolean} elsewhere it sent us to another page, so the session is over
 */

/**
 * Post JSON; never throws.
 * @param {string} url
 * @param {object} body
 * @param {Record<string, string>} headers
 * @param {boolean} [leaving] the page goes away: the browser should finish the request without it
 * @returns {Promise<Answer>}
 */
export async function post(url, body, headers, leaving = false) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", ...headers },
      body: JSON.stringify(body),
      credentials: "same-origin",
      redirect: "manual",
      keepalive: leaving,
      signal: AbortSignal.timeout(PATIENCE),
    });
    const after = Number(response.headers.get("Retry-After")) || 0;
    const answer = await response.json().catch(() => ({}));
    return { status: response.status, body: answer ?? {}, after: after * 1000, elsewhere: response.type === "opaqueredirect" };
  } catch {
    return { status: 0, body: {}, after: 0, elsewhere: false };
  }
}

/** @returns {string} the token against forged requests that the page carries */
function csrf() {
  try {
    return JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
  } catch {
    return "";
  }
}

/**
 * Post JSON with the session. A token against forged requests that is out of date (somebody signed in meanwhile) is
 * fetched anew from the page.
 * @param {string} url
 * @param {object} body
 * @param {boolean} [leaving] as with `post`
 * @returns {Promise<Answer>} status 403: the session is over
 */
export async function postAsWriter(url, body, leaving = false) {
  const answer = await post(url, body, { "X-CSRFToken": csrf() }, leaving);
  if (answer.elsewhere) return { ...answer, status: 403 };
  if (answer.status !== 403 || answer.body.problem) return answer;
  if (!(await renewed())) return answer;
  return post(url, body, { "X-CSRFToken": csrf() });
}

/** @returns {Promise<boolean>} whether the page's token is a new one */
async function renewed() {
  try {
    const response = await fetch(location.href, { redirect: "manual", signal: AbortSignal.timeout(PATIENCE) });
    if (!response.ok) return false;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const headers = page.body.getAttribute("hx-headers");
    if (!headers || headers === document.body.getAttribute("hx-headers")) return false;
    document.body.setAttribute("hx-headers", headers);
    return true;
  } catch {
    return false;
  }
}
