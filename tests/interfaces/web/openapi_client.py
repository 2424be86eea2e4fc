"""A client of any server with an OpenAPI document: it reads the document and knows nothing else about the API.

client = OpenApiClient("http://127.0.0.1:8000")
entered = client.call("POST /api/enter", platform={"pid": "p1"})  # required fields that are left out are made up
assert entered.status == 200, entered.body
"""

import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

DOCUMENT = "/api/openapi.json"
METHODS = ("get", "put", "post", "delete", "patch")
SIGNS = string.ascii_letters + string.digits
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """The response to a call: status, parsed JSON body (None if there is none) and headers."""

    status: int
    body: Any
    headers: httpx.Headers


@dataclass(frozen=True)
class Operation:
    """A route of the document: method, path, where each parameter goes, the schema of the request body."""

    method: str
    path: str
    about: Schema

    @property
    def id(self) -> str:
        return str(self.about["operationId"])


class OpenApiClient:
    """Calls the operations that the OpenAPI document of a running server declares."""

    def __init__(self, base_url: str, headers: Mapping[str, str] | None = None, timeout: float = 600.0) -> None:
        self.http = httpx.Client(base_url=base_url, headers=headers, timeout=timeout)
        self.document: Schema = self.http.get(DOCUMENT).raise_for_status().json()
        self.operations = list(self._declared_operations())

    def __enter__(self) -> "OpenApiClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def _declared_operations(self) -> Iterator[Operation]:
        for path, ways in self.document["paths"].items():
            for method in METHODS:
                if method in ways:
                    yield Operation(method, path, ways[method])

    def find(self, operation: str) -> Operation:
        """Return the operation written as "POST /path", or by its operationId; raise LookupError unless one is declared."""
        method, _, path = operation.partition(" ")
        for one in self.operations:
            if one.id == operation or (one.method == method.lower() and one.path == path):
                return one
        raise LookupError(f"{operation} is not declared; there are {[f'{o.method} {o.path}' for o in self.operations]}")

    def call(self, operation: str, **values: Any) -> Reply:
        """Send a request. `values` go where the document says: path, query, headers, or fields of the body.

        Required fields of the body that are not given are made up from their schemas, in inner objects too. Raise
        LookupError on a name that the document does not declare, or a response status that it does not.
        """
        found = self.find(operation)
        given = dict(values)
        places: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "cookie": {}}
        for parameter in found.about.get("parameters", []):
            name = parameter["name"]
            known = name.replace("-", "_")
            if known in given:
                places[parameter["in"]][name] = given.pop(known)
            elif parameter.get("required"):
                places[parameter["in"]][name] = self.example(parameter["schema"])
        body = self._body_of(found, given)
        reply = self.http.request(
            found.method.upper(),
            found.path.format(**places["path"]),
            params=places["query"],
            headers={name: str(value) for name, value in places["header"].items()},
            cookies=places["cookie"] or None,
            json=body,
        )
        if str(reply.status_code) not in found.about["responses"]:
            raise LookupError(f"{operation} does not declare status {reply.status_code}: {reply.text}")
        is_json = reply.headers.get("content-type", "").startswith("application/json")
        return Reply(reply.status_code, reply.json() if is_json else None, reply.headers)

    def _body_of(self, found: Operation, given: Mapping[str, Any]) -> Any:
        """Return the request body with the given fields; None if the operation takes none."""
        content = found.about.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            if given:
                raise LookupError(f"{found.path} does not declare {sorted(given)}")
            return None
        return self.filled(content["schema"], given)

    def resolved(self, schema: Schema) -> Schema:
        """Return a schema with its $ref, if any, replaced by what it refers to, and null left out of its alternatives."""
        while "$ref" in schema:
            part: Any = self.document
            for name in schema["$ref"].removeprefix("#/").split("/"):
                part = part[name]
            schema = part
        choices = [one for one in schema.get("anyOf", schema.get("oneOf", [])) if one.get("type") != "null"]
        return self.resolved(choices[0]) if choices else schema

    def filled(self, schema: Schema, given: Any) -> Any:
        """Return a value of a schema: what is given, and made-up values for required fields that are not."""
        schema = self.resolved(schema)
        if isinstance(given, list) and "items" in schema:
            return [self.filled(schema["items"], one) for one in given]
        if not isinstance(given, Mapping) or "properties" not in schema:
            return given
        if unknown := set(given) - set(schema["properties"]):
            raise LookupError(f"{schema.get('title')} does not declare {sorted(unknown)}")
        made = {name: self.example(schema["properties"][name]) for name in schema.get("required", [])}
        return made | {name: self.filled(schema["properties"][name], value) for name, value in given.items()}

    def example(self, schema: Schema) -> Any:
        """Return the smallest value that fits a schema."""
        if "default" in schema:
            return schema["default"]
        schema = self.resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        if kind == "object":
            return self.filled(schema, {})
        if kind == "array":
            return [self.example(schema["items"]) for _ in range(schema.get("minItems", 0))]
        if kind == "string":
            return (SIGNS * 9)[: max(1, schema.get("minLength", 1))]
        if kind == "boolean":
            return False
        return schema.get("minimum", 0)
