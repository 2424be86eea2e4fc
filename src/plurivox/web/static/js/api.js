// Requests to the server. A Failure has `retry`: whether the same request may succeed later.

export class Failure extends Error {
  constructor({
    status = 0,
    error = "unreachable",
    detail = "The server cannot be reached.",
    retry = true,
    me = null,
  }) {
    super(detail);
    Object.assign(this, { status, error, detail, retry, me });
  }
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
    data && typeof data.detail === "string" ? data : { error: "unknown", detail: `The server answered with status ${reply.status}.` };
  throw new Failure({ retry: reply.status >= 500 || reply.status === 429, ...known, status: reply.status });
}
