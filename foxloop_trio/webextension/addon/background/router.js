// router: from the runtime's messages to handlers, and from what they return to exactly one answer each.
//
// Purpose: parse and check each message, find its handler in a map, keep its deadline, take `call.cancel`, answer.
// Parameters: the protocol; `handlers`, method name to `async (params, call) => result`; `listeners`, notification name to
// `(params) => void`; the platform's timers and clock.
// Result: `{ attach(link), detach(), receive(text), notify(method, params) }`.
//
// A handler gets a `call`: `id`, `signal` (aborted with a Fault at the deadline, on cancel, or when the link goes), `left()` in
// milliseconds. It returns a plain object, or `verbatim(json)` for a text that is JSON already, or throws a Fault.
// A method without a handler is answered with an error, never passed over.

import { Fault } from "./faults.js";
import { problem } from "./schema.js";

class Verbatim {
  constructor(json) {
    this.json = json;
  }
}

export function verbatim(json) {
  return new Verbatim(json);
}

export function createRouter({ protocol, handlers, listeners, platform }) {
  const { setTimeout, clearTimeout, now } = platform;
  const { envelopes, methods, errors } = protocol;
  const calls = new Map();
  let link = null;

  function attach(newLink) {
    link = newLink;
  }

  // What has begun is finished by the page, and its outcome is kept there; what has not begun never begins.
  function detach() {
    link = null;
    for (const call of [...calls.values()]) {
      call.abort("cancelled", "the connection to the runtime was lost");
      clearTimeout(call.timer);
    }
    calls.clear();
  }

  function notify(method, params) {
    link?.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  function failed(id, fault) {
    const code = fault instanceof Fault ? fault.code : "internal";
    const message = String(fault?.message ?? fault).slice(0, protocol.limits.message);
    const error = { code: errors.numbers[code] ?? errors.application, message, data: { code } };
    return JSON.stringify({ jsonrpc: "2.0", id, error });
  }

  function finish(call, text) {
    if (calls.get(call.id) !== call) {
      return; // the link it came from is gone
    }
    calls.delete(call.id);
    clearTimeout(call.timer);
    if (link.send(text) || text.length * 3 <= link.maxMessageBytes) {
      return;
    }
    const bytes = new TextEncoder().encode(text).length;
    link.send(failed(call.id, new Fault("too-large", `the answer has ${bytes} bytes, the runtime takes ${link.maxMessageBytes}`)));
  }

  function start(id, params) {
    const controller = new AbortController();
    const end = now() + params.deadline_ms;
    const call = {
      id,
      signal: controller.signal,
      left: () => Math.max(0, end - now()),
      abort: (code, message) => controller.abort(new Fault(code, message)),
      timer: null,
    };
    call.timer = setTimeout(() => call.abort("timeout", "the deadline passed"), params.deadline_ms);
    calls.set(id, call);
    return call;
  }

  async function serve(id, method, params) {
    const call = start(id, params);
    try {
      if (params.deadline_ms <= 0) {
        throw new Fault("timeout", "the deadline had passed when the request came");
      }
      const result = await handlers[method](params, call);
      const json = result instanceof Verbatim ? result.json : JSON.stringify(result);
      finish(call, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${json}}`);
    } catch (fault) {
      finish(call, failed(id, fault));
    }
  }

  function receive(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      link?.send(failed(null, new Fault("parse", "not JSON")));
      return;
    }
    const form = message instanceof Object && Object.hasOwn(message, "id") ? "request" : "notification";
    const fault = problem(envelopes[form], message, "message");
    if (fault !== null) {
      refuse(message, "invalid-request", fault);
      return;
    }
    const { method, params } = message;
    const entry = Object.hasOwn(methods, method) ? methods[method] : null;
    if (
      entry === null ||
      entry.sender !== "runtime" ||
      entry.kind !== form ||
      (form === "request" && !Object.hasOwn(handlers, method))
    ) {
      refuse(message, "unknown-method", `no method ${JSON.stringify(method)} here`);
      return;
    }
    const misfit = problem(entry.params, params);
    if (misfit !== null) {
      refuse(message, "invalid-params", misfit);
    } else if (form === "notification") {
      hear(method, params);
    } else if (calls.has(message.id)) {
      refuse(message, "invalid-request", `id ${message.id} is in use`);
    } else {
      serve(message.id, method, params);
    }
  }

  function hear(method, params) {
    if (method === "call.cancel") {
      calls.get(params.id)?.abort("cancelled", "cancelled by the runtime");
    } else if (Object.hasOwn(listeners, method)) {
      listeners[method](params);
    }
  }

  // Notifications have no answer, not even a bad one (JSON-RPC 2.0, section 4.1). What is no object at all has one, without an id.
  function refuse(message, code, words) {
    const isObject = message !== null && typeof message === "object" && !Array.isArray(message);
    if (isObject && !Object.hasOwn(message, "id")) {
      return;
    }
    const known = isObject && problem(envelopes.request.properties.id, message.id) === null;
    link?.send(failed(known ? message.id : null, new Fault(code, words)));
  }

  return { attach, detach, receive, notify };
}
