// The API page: every operation with its request and response types, from the server's OpenAPI description.
import { make, put } from "./dom.js";

const NAMES = { workers: "Workers", owners: "Owners" };

export function typeName(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(typeName).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.type === "array") return `list of ${typeName(schema.items)}`;
  if (schema.additionalProperties?.type) return `${typeName(schema.additionalProperties)} by name`;
  return schema.type ?? "anything";
}

function operation(path, method, told) {
  const takes = told.requestBody?.content?.["application/json"]?.schema;
  const gives = told.responses?.["200"]?.content?.["application/json"]?.schema;
  const given = (told.parameters ?? []).map((one) => `${one.name} (${one.in})`).join(", ");
  const facts = [
    ["request", takes && typeName(takes)],
    ["parameters", given],
    ["response", gives && typeName(gives)],
  ].filter(([, value]) => value);
  return make(
    "article",
    { class: "card pad call" },
    make("h3", {}, make("code", {}, `${method.toUpperCase()} ${path}`)),
    told.description && make("p", {}, told.description),
    make(
      "dl",
      { class: "facts small" },
      facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, make("code", {}, value))]),
    ),
  );
}

function model([name, schema]) {
  const fields = Object.entries(schema.properties ?? {}).map(([field, told]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, field)),
      make("td", {}, typeName(told)),
      make("td", {}, schema.required?.includes(field) ? "required" : ""),
    ),
  );
  const table = make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
    make("table", { class: "small" }, make("tbody", {}, fields)),
  );
  return make(
    "details",
    { class: "card pad" },
    make("summary", {}, make("code", {}, name)),
    schema.description && make("p", {}, schema.description),
    table,
  );
}

export function describe(app, spec) {
  const calls = Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]) => ({ path, method, told })),
  );
  const groups = Object.groupBy ? Object.groupBy(calls, (one) => one.told.tags?.[0] ?? "other") : { all: calls };
  const sections = Object.entries(groups).map(([name, list]) =>
    make(
      "section",
      { class: "group" },
      make("h2", {}, NAMES[name] ?? name),
      list.map((one) => operation(one.path, one.method, one.told)),
    ),
  );
  const models = Object.entries(spec.components?.schemas ?? {}).map(model);
  put(
    app,
    make(
      "main",
      { class: "owner" },
      make("h1", {}, `${spec.info.title} API`),
      make("p", {}, "The pages of the studio use the same operations. ", make("a", { href: "api/openapi.json" }, "OpenAPI description")),
      sections,
      make("h2", {}, "Types"),
      models,
    ),
  );
}

const spec = await fetch("api/openapi.json").then((reply) => reply.json());
describe(document.getElementById("app"), spec);
