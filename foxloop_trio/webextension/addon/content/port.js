// port: the document's line to the background page.
//
// Purpose: say hello, take questions, answer each exactly once as JSON text; stop what has not begun when the line drops. Messages
// here: `{ ask, op, ... }`, `{ cancel }`, `{ nudge }`, `{ acknowledge }`, `{ happened }`, `{ guard }`, `{ shield }`, `{ woke }`.
// From here: `{ hello }`, `{ answer, json | error }`, `{ started }`, `{ submitted }`, `{ dialog, during }`, `{ wake, ms }`,
// `{ leaving, unfinished }`, `{ strayed }`;
// numbers are those of the question (background/documents.js).
// Depends on: act, dialogs, downloads, effects, frameOver, happenings, identity, limits, outcomes, pause, read, settle, spots,
// tables, trusted, uploads, words.
//
// A page kept for the back button keeps its Port open and silent. So it is closed when the page is hidden away, and opened again
// when the page returns.
"use strict";

foxloop.define("port", (parts) => {
  const { act, dialogs, downloads, effects, frameOver, happenings, identity, limits, outcomes, pause, read } = parts;
  const { settle, spots, tables, trusted, uploads, words } = parts;
  const RETRY_FIRST_MS = 100;
  const RETRY_MOST_MS = 5000;
  const LOST = { code: "cancelled", message: "the line to the page was lost before anything was done" };
  const CANCELLED = { code: "cancelled", message: "cancelled before anything was done" };
  const LATE = { code: "timeout", message: "the deadline passed before anything was done" };

  let line = null; // { port, questions: Map of number to { fault } }
  let failures = 0;

  function connect() {
    if (line !== null) {
      return;
    }
    let port;
    try {
      port = browser.runtime.connect({ name: "document" });
    } catch {
      return; // the add-on was removed or replaced; a new one brings its own content scripts
    }
    const mine = { port, questions: new Map() };
    line = mine;
    port.onMessage.addListener((message) => hear(mine, message));
    port.onDisconnect.addListener(() => lose(mine));
    pause.connectWaker((number, ms) => post(mine, { wake: number, ms }));
    const came = performance.getEntriesByType("navigation")[0];
    post(mine, {
      hello: {
        document: identity.document,
        url: words.cut(document.URL, limits.addresses),
        // Firefox counts from a navigation that was prevented before, if there was one; the fetch is always this one's.
        born: performance.timeOrigin + (came?.fetchStart ?? 0),
        came: came?.type ?? "navigate",
      },
    });
  }

  function post(to, message) {
    try {
      to.port.postMessage(message);
    } catch {
      // The line is down; onDisconnect tells.
    }
  }

  function drop(mine) {
    if (line !== mine) {
      return false;
    }
    line = null;
    pause.connectWaker(null);
    for (const question of mine.questions.values()) {
      question.fault ??= LOST;
    }
    return true;
  }

  // The background page was stopped or restarted. Connecting also wakes it.
  function lose(mine) {
    if (drop(mine)) {
      setTimeout(connect, Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_MOST_MS));
      failures += 1;
    }
  }

  const answers = {
    read: ({ options }) => {
      effects.rest();
      return read.read(options);
    },
    stage: ({ call, piece }) => {
      uploads.stage(call, piece);
      return "{}";
    },
    spots: ({ options }) => spots.spots(options),
    table: ({ options }) => tables.table(options),
    settle: ({ listFor }, question) => settle.settle(listFor, () => question.fault !== null),
    outcome: ({ call }) => {
      const { known, json } = outcomes.about(call);
      return `{"known":${known},"result":${json ?? "null"}}`;
    },
    piece: ({ options }, question) => downloads.piece(options, () => question.fault !== null),
    over: ({ point }) => frameOver.over(point),
    shield: ({ ms }, _question, mine) => {
      shield(mine, ms);
      return "{}";
    },
    locate: ({ order }, question) => act.locate(order, { over: () => question.fault }),
    act: ({ order }, question, mine, number) => perform(order, question, mine, number, act.act),
    aim: ({ order }, question, mine, number) => act.aim(order, callOf(order, question, mine, number)),
    finish: ({ order }, question, mine, number) => perform(order, question, mine, number, act.finish),
  };

  const shield = (mine, ms) => trusted.shield(ms, () => post(line ?? mine, { strayed: true }));

  const callOf = (order, question, mine, number) => ({
    over: () => question.fault ?? (Date.now() >= order.deadline ? LATE : null),
    onStarted: () => post(mine, { started: number }),
    onSubmitted: () => post(mine, { submitted: number }),
    onDialog: (dialog) => post(line ?? mine, { dialog, during: number }),
    whileBusy: (tellEarly) => {
      question.tellEarly = tellEarly;
    },
  });

  function perform(order, question, mine, number, how) {
    return outcomes.once(order.call, async (keep) => {
      try {
        const json = await how(order, callOf(order, question, mine, number));
        keep(json);
        return json;
      } catch (fault) {
        keep(
          JSON.stringify({
            ok: false,
            started: false,
            reason: fault.code ?? "internal",
            submitted: false,
            navigated: false,
            dialogs: [],
          }),
        );
        throw fault;
      }
    });
  }

  // A message that is heard while an act is being dispatched is heard from inside of it: the page shows a dialog that its own code
  // opened (or waits for a synchronous request, but seldom for so long). The true outcome is kept when there is one; what is known
  // now is told now.
  function answerEarly(mine, number) {
    const { tellEarly } = mine.questions.get(number) ?? {};
    if (tellEarly) {
      mine.questions.delete(number);
      post(mine, { answer: number, json: tellEarly() });
    }
  }

  async function serve(mine, message) {
    const number = message.ask;
    const question = { fault: null, tellEarly: null };
    mine.questions.set(number, question);
    try {
      const json = await answers[message.op](message, question, mine, number);
      if (mine.questions.has(number)) {
        post(mine, { answer: number, json });
      }
    } catch (fault) {
      const code = fault.code === "cancelled" || fault.code === "timeout" ? fault.code : "internal";
      post(mine, { answer: number, error: { code, message: words.cut(String(fault.message), limits.message) } });
    }
    mine.questions.delete(number);
  }

  function hear(mine, message) {
    failures = 0;
    listen();
    if (message.ask !== undefined) {
      serve(mine, message);
    } else if (message.cancel !== undefined) {
      const question = mine.questions.get(message.cancel);
      if (question !== undefined) {
        question.fault ??= CANCELLED;
      }
    } else if (message.nudge !== undefined) {
      answerEarly(mine, message.nudge);
    } else if (message.acknowledge !== undefined) {
      [outcomes.acknowledge, downloads.forget, uploads.forget].forEach((forget) => forget(message.acknowledge));
    } else if (message.guard !== undefined) {
      dialogs.guard((dialog) => post(line ?? mine, { dialog }), message.guard);
    } else if (message.shield !== undefined) {
      shield(mine, message.shield);
    } else if (message.happened !== undefined) {
      happenings.heard(message.happened);
    } else if (message.woke !== undefined) {
      pause.woke(message.woke);
    }
  }

  function hide(event) {
    if (event.isTrusted && line !== null) {
      const mine = line;
      drop(mine);
      dialogs.disarm();
      post(mine, { leaving: true, unfinished: act.unfinished() });
      mine.port.disconnect();
    }
  }

  function show(event) {
    if (event.isTrusted && event.persisted) {
      trusted.begin();
      connect();
    }
  }

  // Capturing, and before the page's own, so that no page can keep them from us. Said anew from time to time, since document.open()
  // takes all listeners away; those that are there are not added twice.
  function listen() {
    addEventListener("pagehide", hide, true);
    addEventListener("pageshow", show, true);
  }

  listen();
  connect();
  return {};
});
