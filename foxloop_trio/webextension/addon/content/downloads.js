// downloads: operation `download`: presses the control, and takes the file that it leads to instead of letting Firefox save it.
//
// While the press is looked after, nothing that it begins leaves the page: links, forms, windows and blobs are taken note of, and
// the first of them is asked for from here, once, as the page would, with the person's cookies. What is no page is the file; it is
// kept as a stream until it is fetched in pieces. A page is not opened: the result says so. A file on another host than the judged
// one is not asked for. Value: null. The result has `download`: `{ ticket, name, type, url, size }`.
// `piece({ ticket, offset, most }, over)` -> promise of JSON text `{ data, end }`, data in base64; pieces are fetched in their
// order, until `over()` says that nobody waits. `forget(tickets)`: nobody will fetch them.
// Depends on: limits, pageWorld, pause, pointer, words.
"use strict";

foxloop.define("downloads", ({ limits, pageWorld, pause, pointer, words }) => {
  const BEGIN_MS = 2500; // for the page to come up with a file
  const POLL_MS = 20;
  const IDLE_MS = 60_000; // an unfetched file is let go of after so long
  const MOST_KEPT = 2;
  const PAGES = /^(?:text\/html|application\/xhtml\+xml)\b/i;
  const kept = new Map(); // ticket -> { reader, rest, offset, timer, done }

  const refuse = (reason, detail) => ({ ok: false, reason, detail: words.cut(detail, limits.detail) });

  // Notes where the press leads, and keeps it from happening.
  function watch() {
    const found = [];
    const note = (url, more = {}) => {
      if (found.length === 0 && URL.canParse(url, document.baseURI)) {
        const { href, protocol } = new URL(url, document.baseURI);
        if (/^(?:https?|blob|data):$/.test(protocol)) {
          // A blob is let go of right after the click, so it is asked for in the same turn.
          found.push({ url: href, ...more, early: /^https?:/.test(protocol) ? null : fetch(href) });
          found[0].early?.catch(() => {});
        }
      }
    };

    function onClick(event) {
      const link = event.composedPath().find((el) => el.localName === "a" || el.localName === "area");
      if (!event.defaultPrevented && link?.hasAttribute("href") && !link.getAttribute("href").startsWith("#")) {
        event.preventDefault();
        note(link.href, { name: link.getAttribute("download"), asked: link.hasAttribute("download") });
      }
    }

    function onSubmit(event) {
      if (event.defaultPrevented) {
        return;
      }
      event.preventDefault();
      const form = event.target;
      const by = event.submitter;
      const method = (by?.getAttribute("formmethod") ?? form.getAttribute("method") ?? "get").toLowerCase();
      const data = new FormData(form, by);
      const url = new URL(by?.getAttribute("formaction") ?? form.getAttribute("action") ?? "", document.baseURI);
      const plain = new URLSearchParams([...data].map(([name, value]) => [name, typeof value === "string" ? value : value.name]));
      const multipart = /multipart/i.test(by?.getAttribute("formenctype") ?? form.getAttribute("enctype") ?? "");
      if (method === "post") {
        note(url.href, { method: "POST", body: multipart ? data : plain });
      } else {
        url.search = plain;
        note(url.href);
      }
    }

    function onNavigate(event) {
      if (event.cancelable && !event.hashChange && !event.destination.sameDocument) {
        event.preventDefault();
        note(event.destination.url, { name: event.downloadRequest, asked: typeof event.downloadRequest === "string" });
      }
    }

    const open = (url) => {
      note(String(url ?? ""));
      return null;
    };
    // A link that stands in no document sends its click to nobody but itself.
    const page = window.wrappedJSObject;
    const native = page.HTMLElement.prototype.click;
    const restores = [pageWorld.replace(page, "open", open, page)];
    function click() {
      const el = this;
      if (el.localName === "a" && el.href && !el.isConnected) {
        note(String(el.href), { name: el.download ? String(el.download) : null, asked: true });
        return;
      }
      Reflect.apply(native, el, []);
    }
    restores.push(pageWorld.replace(page.HTMLElement.prototype, "click", click, page));
    addEventListener("click", onClick);
    addEventListener("submit", onSubmit);
    navigation?.addEventListener("navigate", onNavigate);
    return {
      found,
      stop() {
        removeEventListener("click", onClick);
        removeEventListener("submit", onSubmit);
        navigation?.removeEventListener("navigate", onNavigate);
        restores.forEach((restore) => restore?.());
      },
    };
  }

  // A document without an address of its own (srcdoc, blob:) is of the page that made it.
  const own = () => location.hostname || (URL.canParse(globalThis.origin) ? new URL(globalThis.origin).hostname : "");
  const hostOf = (url) => (/^https?:/.test(url) ? new URL(url).hostname : own());

  // A header is told as bytes; names in them are mostly UTF-8.
  function inUtf8(text) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    } catch {
      return text;
    }
  }

  // The name that the server gives, the link gives, or the address ends with.
  function nameOf({ name, url }, response) {
    const header = response.headers.get("content-disposition") ?? "";
    const coded = /filename\*\s*=\s*(?:UTF-8|ISO-8859-1)''([^;\s]+)/i.exec(header)?.[1];
    const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
    let decoded = "";
    try {
      decoded = coded === undefined ? "" : decodeURIComponent(coded);
    } catch {
      decoded = coded;
    }
    const last = /^https?:/.test(url) ? new URL(url).pathname.split("/").at(-1) : "";
    return decoded || inUtf8(plain?.[1] ?? plain?.[2] ?? "") || name || last || "download";
  }

  // A redirect to another host must not be followed, not even to see that it is one: it is asked for in that moment.
  const following = (url) =>
    new URL(url).origin === globalThis.origin ? { mode: "same-origin", redirect: "follow" } : { redirect: "error" };

  // The answer to a request, or why it is not waited for any more: then it is given up.
  async function unlessStopped(asking, giveUp, steps) {
    let answered = false;
    const told = asking.finally(() => {
      answered = true;
    });
    while (!answered) {
      await Promise.race([told.catch(() => {}), pause.pause(POLL_MS)]);
      const stopped = answered ? null : steps.stop({ present: false });
      if (stopped !== null) {
        told.catch(() => {});
        giveUp.abort();
        return { stopped };
      }
    }
    return { response: await told };
  }

  async function take(wanted, ticket, steps) {
    if (hostOf(wanted.url) !== own()) {
      return refuse("other-site", `the file is on another host: ${hostOf(wanted.url)}`);
    }
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const how = { method: wanted.method ?? "GET", body: wanted.body, credentials: "include", signal, ...following(wanted.url) };
    let response;
    try {
      const told = await unlessStopped(wanted.early ?? fetch(wanted.url, how), giveUp, steps);
      if (told.stopped !== undefined) {
        return told.stopped;
      }
      response = told.response;
    } catch (fault) {
      const why = "the server does not answer, or it sends on to another host, which is not followed";
      return refuse("unsupported", `the file could not be asked for: ${why} (${fault})`);
    }
    if (response.url !== "" && hostOf(response.url) !== own()) {
      response.body?.cancel();
      return refuse("other-site", `the address leads to another host: ${hostOf(response.url)}`);
    }
    const type = (response.headers.get("content-type") ?? "").split(";")[0].trim();
    const attached = /^\s*attachment/i.test(response.headers.get("content-disposition") ?? "");
    if (!response.ok || (PAGES.test(type) && !attached && wanted.asked !== true)) {
      response.body?.cancel();
      const why = response.ok ? "it leads to a page and to no file: click it instead" : `the server answered ${response.status}`;
      return refuse("unsupported", why);
    }
    keep(ticket, response.body?.getReader() ?? null);
    const length = Number(response.headers.get("content-length") ?? Number.NaN);
    const coded = response.headers.has("content-encoding"); // then the length is that of what travelled
    return {
      ok: true,
      download: {
        ticket,
        name: words.cut(nameOf(wanted, response), limits.attribute),
        type: words.cut(type, limits.token),
        url: words.cut(/^https?:/.test(wanted.url) ? wanted.url : "", limits.addresses),
        ...(Number.isSafeInteger(length) && length >= 0 && !coded ? { size: length } : {}),
      },
    };
  }

  function keep(ticket, reader) {
    while (kept.size >= MOST_KEPT) {
      drop(kept.keys().next().value);
    }
    kept.set(ticket, { reader, rest: [], offset: 0, timer: setTimeout(drop, IDLE_MS, ticket), done: reader === null });
  }

  function drop(ticket) {
    const one = kept.get(ticket);
    if (one !== undefined) {
      clearTimeout(one.timer);
      one.reader?.cancel().catch(() => {});
      kept.delete(ticket);
    }
  }

  async function piece({ ticket, offset, most }, over) {
    const one = kept.get(ticket);
    if (one === undefined || one.offset !== offset) {
      throw new Error("that file is not kept here, or is not fetched in order");
    }
    clearTimeout(one.timer);
    let size = one.rest.reduce((sum, part) => sum + part.length, 0);
    while (!one.done && size < most) {
      const { done, value } = await one.reader.read();
      if (over() || !kept.has(ticket)) {
        drop(ticket);
        throw new Error("nobody waits for that file any more");
      }
      one.done = done;
      if (!done) {
        one.rest.push(value);
        size += value.length;
      }
    }
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of one.rest) {
      all.set(part, at);
      at += part.length;
    }
    const told = all.subarray(0, Math.min(size, most));
    one.rest = size > most ? [all.slice(most)] : [];
    one.offset += told.length;
    one.timer = setTimeout(drop, IDLE_MS, ticket);
    const end = one.done && one.rest.length === 0;
    if (end) {
      drop(ticket);
    }
    return JSON.stringify({ data: told.toBase64(), end });
  }

  function dispatch({ el }, spot, _value, steps) {
    const watching = watch();
    const refusal = pointer.press(el, spot, { ready: steps.ready });
    steps.note("click");
    if (refusal !== null) {
      watching.stop();
      return refusal;
    }
    return async () => {
      const end = performance.now() + BEGIN_MS;
      try {
        while (watching.found.length === 0 && performance.now() < end) {
          await pause.pause(POLL_MS);
          const stopped = steps.stop({ present: false });
          if (stopped !== null) {
            return stopped;
          }
        }
      } finally {
        watching.stop();
      }
      if (watching.found.length === 0) {
        return refuse("nothing-changed", "it was clicked, and no file came of it");
      }
      const result = await take(watching.found[0], steps.call, steps);
      if (result.ok) {
        steps.saw("download");
        steps.note("asked for the file");
      }
      return result;
    };
  }

  return { download: { unfit: () => null, dispatch }, piece, forget: (tickets) => tickets.forEach(drop) };
});
