// documents: every document that has said hello, and the questions that wait for its answer.
//
// Purpose: one entry per document, keyed by the id that its content script made; one runtime.Port each. A tab and frame can have
// two for a moment (the old one going, the new one coming), so neither is ever looked up by tab and frame alone, save for reading.
// Parameters: callbacks `onCame(doc)`, before its hello, `onHere(doc)`, `onGone(doc)`, `onDialog(doc, dialog)`, `onStray(doc)`, and
// the platform's setTimeout.
// Result: `{ accept(port), find(place), top(tab), inFrame(tab, frameId), byAlias(tab, frame), all(), connected(tab), ask(doc,
// message, more), tell(doc, message) }`. `connected(tab)`: also those that have no number.
//
// Firefox's frame ids have eleven digits. On the wire each document of a tab has a small number instead: 0 is the top one, the
// others count from 1 in the order in which they came, anew for each top document. `doc.frame` is that number, `doc.frameId`
// Firefox's.
//
// `ask` answers a promise of `{ json }`, or `{ gone: true, left, unfinished, trace }` when the port went first (`left`: it said so;
// `unfinished`: the steps that an act had done which had more to do), and rejects with the Fault that the
// content script sent. `trace` is what was heard about that question before: `{ started, submitted, dialogs }`.
//
// A page kept for the back button would keep its Port open and silent; content/port.js closes it then. So an open Port means a
// document that answers, and a closed one ends all that waits for it at once.

import { Fault } from "./faults.js";

// After an act has started: an open dialog must be known within two seconds, and a page that is only busy be given time to end.
const NUDGE_MS = 1700;
const FEWEST_MS = 1;
const MOST_MS = 1000;
const MOST_OPENED = 10; // tabs that one act is told to have opened
const MOST_DOCUMENTS = 500; // of one tab; `frames` of the protocol's limits. Of more nobody is told, and nobody asks them.
const MOST_NUMBERED = 20_000;

export function createDocuments({ onCame, onHere, onGone, onDialog, onStray, setTimeout }) {
  const documents = new Map();
  const lines = new Set(); // all documents that have a Port
  const numbers = new Map(); // document -> its number, also when it is kept for the back button
  const counters = new Map(); // top document -> the last number given in it
  let asked = 0;

  function accept(port) {
    const sender = port.sender;
    if (port.name !== "document" || sender?.tab === undefined) {
      port.disconnect();
      return;
    }
    const doc = {
      tab: sender.tab.id,
      frameId: sender.frameId,
      frame: sender.frameId === 0 ? 0 : null,
      document: null,
      url: sender.url ?? "",
      born: 0,
      came: "navigate",
      port,
      waiting: new Map(),
    };
    port.onMessage.addListener((message) => hear(doc, message));
    port.onDisconnect.addListener(() => leave(doc));
    lines.add(doc);
    onCame?.(doc);
  }

  function hear(doc, message) {
    if (message.hello !== undefined) {
      greet(doc, message.hello);
    } else if (message.answer !== undefined) {
      answered(doc, message);
    } else if (message.started !== undefined) {
      const question = doc.waiting.get(message.started);
      if (question !== undefined) {
        question.trace.started = true;
        question.onStarted?.();
        setTimeout(() => doc.waiting.has(message.started) && tell(doc, { nudge: message.started }), NUDGE_MS);
      }
    } else if (message.submitted !== undefined) {
      const question = doc.waiting.get(message.submitted);
      if (question !== undefined) {
        question.trace.submitted = true;
      }
    } else if (message.dialog !== undefined) {
      doc.waiting.get(message.during)?.trace.dialogs.push(message.dialog);
      onDialog(doc, message.dialog);
    } else if (message.strayed !== undefined) {
      onStray?.(doc);
    } else if (message.leaving !== undefined) {
      doc.leaving = true;
      doc.unfinished = message.unfinished ?? null;
    } else if (message.wake !== undefined) {
      // Firefox slows the timers of hidden pages down to one a second, but not ours.
      const ms = Math.min(Math.max(message.ms, FEWEST_MS), MOST_MS);
      setTimeout(() => tell(doc, { woke: message.wake }), ms);
    }
  }

  function greet(doc, hello) {
    Object.assign(doc, hello);
    if (doc.frameId === 0 && doc.url === "about:blank") {
      return; // an empty tab: without a host nothing in it could be judged, and Firefox lets us into some of them only
    }
    const isNew = !documents.has(doc.document);
    if (isNew && doc.frameId !== 0 && ofTab(doc.tab).length >= MOST_DOCUMENTS) {
      return;
    }
    doc.frame = numberOf(doc);
    documents.delete(doc.document); // the newest Port of a document is its last entry: `top` relies on the order
    documents.set(doc.document, doc);
    onHere(doc);
  }

  function numberOf(doc) {
    if (doc.frameId === 0) {
      return 0;
    }
    let number = numbers.get(doc.document);
    if (number === undefined) {
      const over = top(doc.tab)?.document ?? `tab ${doc.tab}`;
      number = (counters.get(over) ?? 0) + 1;
      keep(counters, over, number);
      keep(numbers, doc.document, number);
    }
    return number;
  }

  function keep(map, key, value) {
    map.set(key, value);
    if (map.size > MOST_NUMBERED) {
      map.delete(map.keys().next().value);
    }
  }

  const ofTab = (tab) => [...documents.values()].filter((doc) => doc.tab === tab);

  function answered(doc, message) {
    const question = doc.waiting.get(message.answer);
    if (question === undefined) {
      return; // it was given up meanwhile
    }
    doc.waiting.delete(message.answer);
    if (message.error !== undefined) {
      question.reject(new Fault(message.error.code, message.error.message));
    } else {
      question.resolve({ json: message.json });
    }
  }

  function leave(doc) {
    lines.delete(doc);
    const current = documents.get(doc.document) === doc;
    if (current) {
      documents.delete(doc.document);
    }
    for (const question of doc.waiting.values()) {
      question.resolve({ gone: true, left: doc.leaving === true, unfinished: doc.unfinished ?? null, trace: question.trace });
    }
    doc.waiting.clear();
    if (current) {
      onGone(doc);
    }
  }

  function tell(doc, message) {
    try {
      doc.port.postMessage(message);
    } catch {
      // The port is closing; onDisconnect says so to whoever waits.
    }
  }

  function ask(doc, message, { onStarted } = {}) {
    asked += 1;
    const number = asked;
    const answer = new Promise((resolve, reject) => {
      doc.waiting.set(number, { resolve, reject, onStarted, trace: { started: false, submitted: false, dialogs: [], opened: [] } });
    });
    tell(doc, { ask: number, ...message });
    return {
      answer,
      trace: doc.waiting.get(number).trace,
      cancel: () => tell(doc, { cancel: number }),
      forget: () => doc.waiting.delete(number),
    };
  }

  function noteOpened(doc, tab) {
    for (const { trace } of doc.waiting.values()) {
      if (trace.opened.length < MOST_OPENED) {
        trace.opened.push(tab);
      }
    }
  }

  function find({ tab, frame, document }) {
    const doc = documents.get(document);
    return doc !== undefined && doc.tab === tab && doc.frame === frame ? doc : null;
  }

  const top = (tab) => ofTab(tab).findLast((doc) => doc.frameId === 0) ?? null;
  const inFrame = (tab, frameId) => ofTab(tab).findLast((doc) => doc.frameId === frameId) ?? null;
  const byAlias = (tab, frame) => ofTab(tab).findLast((doc) => doc.frame === frame) ?? null;

  const all = () => [...documents.values()];
  const connected = (tab) => [...lines].filter((doc) => doc.tab === tab);

  return { accept, find, top, inFrame, byAlias, all, connected, ask, noteOpened, tell };
}
