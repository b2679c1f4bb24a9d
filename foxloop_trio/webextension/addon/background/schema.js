// schema: does a value fit a JSON Schema of shared/protocol.json?
//
// Purpose: every message of the runtime is checked against the schema of its method before a handler sees it.
// Parameters: the schema, the value, the path to name in the answer.
// Result: null, or one sentence that names the first place that does not fit. Never the value: it may be a secret.
// Knows the keywords that foxloop_trio.wire uses, and refuses to judge by a schema with any other.

const KNOWN = new Set([
  "type",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "maxItems",
  "minItems",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
]);

const TYPES = {
  object: (value) => value !== null && typeof value === "object" && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: Number.isInteger,
  null: (value) => value === null,
};

const patterns = new Map();

function matches(pattern, text) {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(text);
}

export function problem(schema, value, path = "params") {
  for (const keyword in schema) {
    if (!KNOWN.has(keyword)) {
      throw new Error(`schema keyword ${keyword} is not known to this add-on`);
    }
  }
  if (schema.type !== undefined) {
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    if (!types.some((type) => TYPES[type](value))) {
      return `${path}: not ${types.join(" or ")}`;
    }
  }
  if (schema.const !== undefined && value !== schema.const) {
    return `${path}: not ${JSON.stringify(schema.const)}`;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return `${path}: not one of ${schema.enum.join(", ")}`;
  }
  if (typeof value === "string") {
    return textProblem(schema, value, path);
  }
  if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) {
      return `${path}: not from ${schema.minimum ?? "any"} to ${schema.maximum ?? "any"}`;
    }
    return null;
  }
  if (Array.isArray(value)) {
    return listProblem(schema, value, path);
  }
  return value !== null && typeof value === "object" ? objectProblem(schema, value, path) : null;
}

function textProblem(schema, value, path) {
  // Counted in UTF-16 units, of which there are never fewer than characters: a text that fits here fits there.
  if (value.length < (schema.minLength ?? 0) || value.length > (schema.maxLength ?? Infinity)) {
    return `${path}: ${value.length} characters, allowed are ${schema.minLength ?? 0} to ${schema.maxLength ?? "any"}`;
  }
  if (schema.pattern !== undefined && !matches(schema.pattern, value)) {
    return `${path}: not of the form ${schema.pattern}`;
  }
  return null;
}

function listProblem(schema, value, path) {
  if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? Infinity)) {
    return `${path}: ${value.length} items, allowed are ${schema.minItems ?? 0} to ${schema.maxItems ?? "any"}`;
  }
  if (schema.items !== undefined) {
    for (let at = 0; at < value.length; at += 1) {
      const found = problem(schema.items, value[at], `${path}[${at}]`);
      if (found !== null) {
        return found;
      }
    }
  }
  return null;
}

function objectProblem(schema, value, path) {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      return `${path}.${name}: missing`;
    }
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) {
      const found = problem(properties[name], value[name], `${path}.${name}`);
      if (found !== null) {
        return found;
      }
    } else if (schema.additionalProperties === false) {
      return `${path}: unknown key ${JSON.stringify(name.slice(0, 40))}`;
    }
  }
  return null;
}
