// dialogs: alert, confirm, prompt, print and "leave this page?" never stop an act.
//
// Purpose: while an act of ours runs and its page settles, the page's own functions are replaced by ones that answer at once, as a
// careful person in a hurry would: alert is closed, confirm is declined, prompt is cancelled, nothing is printed, a page that asks
// not to be left is not left. Never yes, save for the one answer that was armed for this one act. Before and after, the page has
// its own functions, untouched. Each dialog is reported with its text. `arm(hear, answer)`: replace, until `disarm()`; `hear({
// kind, message, answer })` is told of each; `answer`, `{ accept, reply }` or null, is what the first question (confirm, prompt,
// leaving) gets; later ones are declined. `guard(hear, ms)`: the same for so long, in this window only, while an act runs in a page
// of another origin in the same tab, which may make this one ask. `linger(ms)`: disarm then, unless armed anew. `armed()`.
// Depends on: limits, pageWorld, words.
//
// A page that kept the native functions under another name before the act still opens real dialogs. The act is then answered while
// the dialog is open (content/port.js).
"use strict";

foxloop.define("dialogs", ({ limits, pageWorld, words }) => {
  const DECLINED = { alert: undefined, confirm: false, prompt: null, print: undefined };
  const MOST = 20; // in one act; then the page gets an exception, as from Firefox when a person forbids further dialogs

  const DECIDED_MS = 50;

  let restores = [];
  let hear = null;
  let wanted = null;
  let count = 0;
  let timer = null;
  let decided = null;

  function textOf(message) {
    try {
      return message === undefined ? "" : String(message);
    } catch {
      return ""; // an object that cannot be made a text
    }
  }

  function takeWanted() {
    const answer = wanted;
    wanted = null;
    return answer;
  }

  function decide(kind, suggested) {
    if (kind !== "confirm" && kind !== "prompt") {
      return DECLINED[kind];
    }
    const answer = takeWanted();
    if (answer?.accept !== true) {
      return DECLINED[kind];
    }
    return kind === "confirm" ? true : (answer.reply ?? textOf(suggested));
  }

  function tell(kind, message, answer) {
    const told = typeof answer === "string" ? words.cut(answer, limits.message) : answer;
    hear?.({ kind, message: words.cut(textOf(message), limits.dialogMessage), answer: told ?? null });
  }

  function answer(page, kind, message, suggested) {
    count += 1;
    if (count > MOST) {
      throw new page.Error("too many dialogs");
    }
    const given = decide(kind, suggested);
    tell(kind, kind === "print" ? "" : message, given);
    return given;
  }

  function arm(listener, given = null, pages = pageWorld.windows()) {
    clearTimeout(timer);
    hear = listener;
    wanted = given;
    count = 0;
    if (restores.length > 0) {
      return;
    }
    for (const page of pages) {
      for (const kind of Object.keys(DECLINED)) {
        const stand = (message, suggested) => answer(page, kind, message, suggested);
        const restore = pageWorld.replace(page, kind, stand, page);
        if (restore !== null) {
          restores.push(restore);
        }
      }
    }
  }

  function disarm() {
    clearTimeout(timer);
    restores.forEach((restore) => restore());
    restores = [];
    hear = null;
    wanted = null;
  }

  function linger(ms) {
    clearTimeout(timer);
    timer = setTimeout(disarm, ms);
  }

  function guard(listener, ms) {
    if (!isArmed()) {
      arm(listener, null, [window.wrappedJSObject]);
    }
    linger(ms);
  }

  const isArmed = () => restores.length > 0;

  // Would the page ask? Its own listeners are asked with an event of ours: that shows nothing.
  function asks() {
    const probe = document.createEvent("BeforeUnloadEvent");
    probe.initEvent("beforeunload", false, true);
    window.dispatchEvent(probe);
    return probe.defaultPrevented || probe.returnValue !== "";
  }

  // Whether the page may be left; what was decided holds for this turn of the page, in which both events below come.
  function mayLeave() {
    if (decided === null) {
      decided = true;
      if (asks()) {
        decided = takeWanted()?.accept === true;
        tell("beforeunload", "", decided);
      }
      setTimeout(() => {
        decided = null;
      }, DECIDED_MS);
    }
    return decided;
  }

  // Firefox tells of each navigation before it asks the page, and lets it be prevented.
  function navigating(event) {
    const leaves = event.cancelable && !event.hashChange && !event.destination.sameDocument && event.downloadRequest === null;
    if (leaves && isArmed() && !mayLeave()) {
      event.preventDefault();
    }
  }

  // For those that cannot be prevented (back, forward), and for a Firefox without that interface.
  function leaving(event) {
    if (!event.isTrusted || !isArmed()) {
      return;
    }
    event.stopImmediatePropagation();
    if (!mayLeave()) {
      window.stop();
    }
  }

  // Capturing, and before the page's own; anew at each act, since document.open() takes all listeners away.
  function listen() {
    addEventListener("beforeunload", leaving, true);
    if (typeof navigation === "object") {
      navigation.addEventListener("navigate", navigating, true);
    }
  }
  listen();

  return {
    arm: (listener, given) => {
      listen();
      arm(listener, given);
    },
    disarm,
    guard: (listener, ms) => {
      listen();
      guard(listener, ms);
    },
    linger,
    armed: isArmed,
  };
});
