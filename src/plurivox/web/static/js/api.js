// Requests to the server. A Failure has `retry`: whether the same request may succeed later.

export class Failure extends Error {
  constructor({
    status = 0,
    error = "unreachable",
    detail = "The server cannot be reached. Please check your connection.",
    retry = true,
    me = null,
  }) {
    super(detail);
    Object.assign(this, { status, error, detail: sentence(detail), retry, me });
  }
}

function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

export async function call(method, path, body, headers = {}, { hear = () => {}, ...more } = {}) {
  const signal = AbortSignal.timeout?.(20000);
  const options = { method, headers: { ...headers }, credentials: "same-origin", signal, ...more };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  const reply = await fetch(`api/${path}`, options).catch(() => null);
  if (!reply) throw new Failure({});
  hear(reply.headers);
  const data = await reply.json().catch(() => null);
  if (reply.ok) return data;
  const known =
    data && typeof data.detail === "string" ? data : { error: "unknown", detail: "The server did not answer as expected. Please try again in a moment." };
  throw new Failure({ retry: reply.status >= 500 || reply.status === 429, ...known, status: reply.status });
}
