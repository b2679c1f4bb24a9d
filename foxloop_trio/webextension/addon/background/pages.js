// pages: the methods `page.*` and `tab.capture`, forwarded to the document they name. Reading is in reading.js, pictures in
// pictures.js.
//
// Purpose: find the document, ask its content script, pass its JSON on unread; know what to answer when it does not answer.
// Parameters: documents (documents.js), tabs (tabs.js), holds (holds.js), happenings (happenings.js), our incarnation, `notify`,
// and the platform's timers and wall clock. Result: `{ handlers, listeners }` for the router, and `{ came(doc), strayed(doc) }` for
// what documents tell.
//
// A document that goes away after an act has started in it has done what was asked: that is what a link does, unless it says that
// more was to be sent. Before that, nothing was done. An act that has started and does not end is never answered: only its document
// knows its outcome, and keeps it. A document whose process crashed has left without a word, and nobody knows how far it came.

import { answer } from "./answers.js";
import { Fault } from "./faults.js";
import { createFrames } from "./frames.js";
import { createPictures } from "./pictures.js";
import { createReading } from "./reading.js";
import { verbatim } from "./router.js";

const GUARD_MS = 3000; // as long as an act and its settling seldom take
const LATE_MS = 500; // a content script refuses what comes after its deadline; this much later it has had its turn or has hung
const SHIELD_MS = 300; // for the other documents of a tab to answer; one that is busy in another process is not reached anyway
const CRASH_TRIES = 20;
const CRASH_POLL_MS = 15;

export function createPages({ documents, tabs, holds, happenings, incarnation, notify, platform }) {
  const { setTimeout, clearTimeout, wallNow } = platform;
  const frames = createFrames({ documents, tabs, platform });
  const reading = createReading({ documents, tabs, frames });
  const pictures = createPictures({ tabs, frames });

  async function missing(place) {
    await tabs.get(place.tab); // throws no-tab
    return new Fault("document-gone", `document ${place.document} is not in frame ${place.frame} of tab ${place.tab}`);
  }

  // For acts: the page has the last word, unless it can no longer have begun.
  async function outcome(question, call) {
    const cancel = () => question.cancel();
    call.signal.addEventListener("abort", cancel);
    let timer;
    const overdue = new Promise((_, reject) => {
      timer = setTimeout(() => {
        if (!question.trace.started) {
          question.forget();
          reject(call.signal.reason ?? new Fault("timeout", "the page did not answer; nothing was done"));
        }
      }, call.left() + LATE_MS);
    });
    try {
      return await Promise.race([question.answer, overdue]);
    } finally {
      clearTimeout(timer);
      call.signal.removeEventListener("abort", cancel);
    }
  }

  // What of the pages around a frame lies over the point that would be pressed in it; null when nothing does, or nobody can tell.
  // The point is asked for beforehand: the frame and what is around it may live in different processes.
  async function coverOf(doc, order, call) {
    let point = await inner(doc, { op: "locate", order }, call);
    for (let at = doc; point !== null && at.frameId !== 0 && at.parent !== undefined;) {
      const around = documents.byAlias(at.tab, at.parent);
      if (around === null) {
        return null;
      }
      point = await inner(around, { op: "over", point: { id: at.frameId, ...point } }, call);
      if (point?.cover !== undefined) {
        return point.cover;
      }
      at = around;
    }
    return null;
  }

  async function inner(doc, question, call) {
    const reply = await answer(documents.ask(doc, question), call);
    return reply.gone ? null : JSON.parse(reply.json);
  }

  // Pages of other origins in the same tab: what the act makes them ask must not stop it either.
  function guardOthers(doc) {
    const own = originOf(doc.url);
    for (const other of documents.all()) {
      if (other.tab === doc.tab && other !== doc && (own === "null" || originOf(other.url) !== own)) {
        documents.tell(other, { guard: GUARD_MS });
      }
    }
  }

  function orderOf(params, call) {
    const { call: name, frame, document, host, node, guard, key, form_key: formKey, op, value, mark, focus, dialog } = params;
    const stopped = params.input === "stopped";
    const deadline = wallNow() + call.left();
    return { call: name, frame, document, host, node, guard, key, formKey, op, value, mark, focus, dialog, stopped, deadline };
  }

  const aims = new Map(); // tab -> { doc, until, strayed, timer }: where input of Firefox's own is on its way

  // Nothing of it may come to another document of the tab. Those of the page's own process have answered when the page does.
  async function shieldOthers(doc, ms) {
    unshield(doc.tab);
    aims.set(doc.tab, { doc, until: wallNow() + ms, strayed: false, timer: setTimeout(unshield, ms, doc.tab) });
    const others = documents.connected(doc.tab).filter((other) => other !== doc);
    const asked = others.map((other) => documents.ask(other, { op: "shield", ms }));
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, SHIELD_MS);
    });
    await Promise.race([Promise.allSettled(asked.map(({ answer: told }) => told)), late]);
    clearTimeout(timer);
    asked.forEach(({ forget }) => forget());
  }

  function unshield(tab) {
    const aim = aims.get(tab);
    if (aim !== undefined) {
      aims.delete(tab);
      clearTimeout(aim.timer);
      const others = documents.connected(tab).filter((other) => other !== aim.doc);
      others.forEach((other) => documents.tell(other, { shield: 0 }));
    }
  }

  // A document that comes meanwhile begins with a shield of its own.
  function came(doc) {
    documents.tell(doc, { shield: Math.max(0, (aims.get(doc.tab)?.until ?? 0) - wallNow()) });
  }

  function noteStray(doc) {
    const aim = aims.get(doc.tab);
    if (aim !== undefined) {
      aim.strayed = true;
    }
  }

  function handOver(tab) {
    holds.release(tab);
    unshield(tab);
  }

  // The first half of an act that input of Firefox's own does: nothing is done but to wait for it.
  async function aim(params, call) {
    if (params.incarnation !== incarnation) {
      throw new Fault("other-incarnation", "the add-on's background page was restarted since; nothing was done");
    }
    const doc = documents.find(params);
    if (doc === null) {
      throw await missing(params);
    }
    happenings.lately(doc);
    const most = call.left() + LATE_MS;
    holds.delay(doc.tab, most);
    try {
      await shieldOthers(doc, most);
      const reply = await answer(documents.ask(doc, { op: "aim", order: orderOf(params, call) }), call);
      if (reply.gone) {
        throw new Fault("document-gone", "the document went away before anything was done");
      }
      if (reply.json.startsWith('{"outcome"')) {
        handOver(doc.tab); // nothing will be sent
      }
      return verbatim(reply.json);
    } catch (fault) {
      handOver(doc.tab);
      throw fault;
    }
  }

  // Whether a document that went without a word left nothing in its place: no page that loads, and no other document.
  async function crashed(doc) {
    for (let tries = 0; tries < CRASH_TRIES; tries += 1) {
      const tab = await tabs.get(doc.tab).catch(() => null); // closed
      if (doc.frameId !== 0 || tab?.status !== "complete" || documents.top(doc.tab) !== null) {
        return false;
      }
      await new Promise((resolve) => setTimeout(resolve, CRASH_POLL_MS));
    }
    return true;
  }

  // On a busy machine a document sees what a request came to before it is told of the request.
  function withRequest(json) {
    const result = JSON.parse(json);
    if (!result.ok || result.changed === undefined || result.changed.includes("request")) {
      return json;
    }
    return JSON.stringify({ ...result, changed: [...result.changed, "request"].sort() });
  }

  async function act(params, call) {
    const strayed = aims.get(params.tab)?.strayed === true;
    if (params.input === "sent") {
      handOver(params.tab); // nothing is on its way any more
    }
    if (params.incarnation !== incarnation) {
      throw new Fault("other-incarnation", "the add-on's background page was restarted since; nothing was done");
    }
    const doc = documents.find(params);
    if (doc === null && strayed) {
      const why = "the page was left before all of the input had come, and nobody can tell how much did";
      return { ok: false, reason: "timeout", detail: why, started: true, submitted: false, navigated: true, dialogs: [] };
    }
    if (doc === null) {
      throw await missing(params);
    }
    call.signal.throwIfAborted();
    const order = params.input === undefined ? orderOf(params, call) : { ...orderOf(params, call), strayed };
    const covered = doc.frameId === 0 ? null : await coverOf(doc, order, call);
    if (covered !== null) {
      const refusal = { ok: false, reason: "covered", detail: covered };
      return { ...refusal, started: false, submitted: false, navigated: false, dialogs: [] };
    }
    happenings.lately(doc);
    guardOthers(doc);
    const onStarted = () => notify("page.started", { id: call.id });
    const how = params.input === undefined ? "act" : "finish";
    const requests = happenings.begunIn(doc);
    const reply = await outcome(documents.ask(doc, { op: how, order }, { onStarted }), call);
    if (!reply.gone) {
      return verbatim(happenings.begunIn(doc) > requests ? withRequest(reply.json) : reply.json);
    }
    if (!reply.trace.started) {
      throw new Fault("document-gone", "the document went away before anything was done");
    }
    const { submitted, dialogs, opened } = reply.trace;
    const tabsOpened = opened.length === 0 ? {} : { opened_tabs: opened };
    if (!reply.left && (await crashed(doc))) {
      const why = "the page's process ended; nobody can tell how much was done";
      return { ok: false, reason: "timeout", detail: why, started: true, submitted, navigated: true, dialogs, ...tabsOpened };
    }
    if (reply.unfinished !== null) {
      const rest = { ok: false, reason: "gone", detail: "the page was left before all of it was done: see what it did" };
      return { ...rest, did: reply.unfinished, started: true, submitted, navigated: true, dialogs, ...tabsOpened };
    }
    return { ok: true, started: true, submitted, navigated: true, dialogs, ...tabsOpened };
  }

  async function settle(params, call) {
    const begun = wallNow();
    const doc = documents.find(params);
    if (doc === null) {
      await tabs.get(params.tab);
      return { waited_ms: 0, gone: true };
    }
    happenings.lately(doc);
    const reply = await answer(documents.ask(doc, { op: "settle", listFor: params.list_for }), call);
    return reply.gone ? { waited_ms: Math.max(0, Math.round(wallNow() - begun)), gone: true } : verbatim(reply.json);
  }

  async function keptOutcome(params, call) {
    const doc = documents.find(params);
    if (doc === null) {
      throw await missing(params);
    }
    const reply = await answer(documents.ask(doc, { op: "outcome", call: params.call }), call);
    if (reply.gone) {
      throw new Fault("document-gone", "the document went away");
    }
    return verbatim(reply.json);
  }

  async function table(params, call) {
    const doc = documents.byAlias(params.tab, params.frame);
    if (doc === null) {
      throw params.frame === 0
        ? await tabs.unreadable(params.tab)
        : new Fault("document-gone", `there is no frame ${params.frame} in tab ${params.tab} any more`);
    }
    const { nth, find, offset, rows: most } = params;
    const reply = await answer(documents.ask(doc, { op: "table", options: { nth, find, offset, most } }), call);
    if (reply.gone) {
      throw new Fault("document-gone", "the document went away while it was read");
    }
    return verbatim(reply.json);
  }

  // A piece of a file that an act of that name will need.
  async function stage(params, call) {
    const doc = documents.find(params);
    if (doc === null) {
      throw await missing(params);
    }
    const piece = { index: params.index, data: params.data };
    const reply = await answer(documents.ask(doc, { op: "stage", call: params.call, piece }), call);
    if (reply.gone) {
      throw new Fault("document-gone", "the document went away");
    }
    return {};
  }

  // A piece of a file that an act of that name took.
  async function fetchPiece(params, call) {
    const doc = documents.find(params);
    if (doc === null) {
      throw await missing(params);
    }
    const options = { ticket: params.call, offset: params.offset, most: params.most };
    const reply = await answer(documents.ask(doc, { op: "piece", options }), call);
    if (reply.gone) {
      throw new Fault("document-gone", "the document went away, and the file with it");
    }
    return verbatim(reply.json);
  }

  function acknowledge(params) {
    const doc = documents.find(params);
    if (doc !== null) {
      documents.tell(doc, { acknowledge: params.calls });
    }
  }

  return {
    handlers: {
      "tab.capture": pictures.capture,
      "page.read": reading.read,
      "page.table": table,
      "page.act": act,
      "page.aim": aim,
      "page.stage": stage,
      "page.fetch": fetchPiece,
      "page.settle": settle,
      "page.outcome": keptOutcome,
    },
    listeners: { "page.acknowledge": acknowledge },
    came,
    strayed: noteStray,
  };
}

const originOf = (url) => (URL.canParse(url) ? new URL(url).origin : "null");
