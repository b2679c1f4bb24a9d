// act: one operation on one control, checked and done in the same turn.
//
// Purpose: nothing happens to a page but what was judged. `act(order, call)` -> JSON text of an ActResult; rejects with `{ code,
// message }` when the call was over (cancelled, too late, Port lost) before anything was dispatched.
// `order`: `{ document, host, node, guard, key, op, value, mark, focus }`, as judged. `call`: `{ over() -> null or { code, message
// }, onStarted(), onSubmitted(), onDialog(dialog), whileBusy(tell) }`; `tell` answers what is known so far, while the page's own
// code runs.
// Depends on: controls, dialogs, guard, identity, limits, numbers, operations, pause, reach, ring, sight, submits, values, words.
//
// Between the checks and the first event nothing is awaited: after each wait everything is checked again. `onStarted` is called
// right before the first event, so that whoever loses us after that knows that something may have been done, and whoever loses us
// before it knows that nothing was.
"use strict";

foxloop.define("act", (parts) => {
  const { controls, dialogs, guard, identity, limits, numbers, operations, pause, reach, ring, sight, submits, values, words } =
    parts;
  const SCROLL_PAUSE_MS = 50;
  const LINGER_MS = 1000; // how long dialogs are still answered when nobody asks us to settle

  const STUCK = {
    ok: false,
    reason: "dialog",
    detail: "the page has not come back: a dialog of its own is open, or it waits for something",
  };

  const refuse = (reason, detail) => ({ refusal: { ok: false, reason, ...(detail === undefined ? {} : { detail }) } });

  // An IPv6 address has brackets in an address, and none as a host name.
  const bare = (host) => host.toLowerCase().replace(/^\[|\]$/g, "");

  // The checks of one turn: the facts about the control, or why it is refused.
  function check(order) {
    if (order.document !== identity.document) {
      return refuse("stale", "document differs");
    }
    if (bare(location.hostname) !== bare(order.host)) {
      return refuse("other-site", "host differs");
    }
    const el = numbers.find(order.node);
    if (el === null) {
      return refuse("gone");
    }
    const turn = sight.createSight();
    const facts = controls.facts(el, turn);
    if (facts === null) {
      return refuse("hidden");
    }
    if (guard.guardOf(facts, turn) !== order.guard) {
      return refuse("stale", "control differs");
    }
    if (guard.keyOf(turn) !== order.key) {
      return refuse("stale", "page differs");
    }
    if (facts.disabled) {
      return refuse("disabled");
    }
    if (operations.edits(order.op) && values.isReadOnly(el)) {
      return refuse("readonly");
    }
    const refusal = operations.operation(order.op).unfit(facts, order.value);
    return refusal === null ? { facts } : { refusal };
  }

  function stopIfOver(call) {
    const fault = call.over();
    if (fault !== null) {
      throw fault;
    }
  }

  // Scrolls until a point of the control can be pressed. The last check and the answer are of the same turn.
  async function find(order, call) {
    const anywhere = operations.operation(order.op).anywhere === true;
    for (let attempt = 0; ; attempt += 1) {
      stopIfOver(call);
      const checked = check(order);
      if (checked.refusal !== undefined || anywhere) {
        return checked;
      }
      const { el, via } = checked.facts;
      const spot = reach.mustScroll(el, via) ? { cover: null } : reach.reach(el, via);
      if (spot.point !== undefined) {
        return { ...checked, spot };
      }
      if (!reach.bring(el, via, attempt, spot.cover)) {
        return refuse("covered", words.cut(reach.coverName(spot.cover), limits.detail));
      }
      await pause.drawn(SCROLL_PAUSE_MS);
    }
  }

  async function act(order, call) {
    const found = await find(order, call);
    if (found.refusal !== undefined) {
      return tell(found.refusal, { started: false });
    }
    const operation = operations.operation(order.op);
    const nothingToDo = operation.done?.(found.facts) ?? null;
    if (nothingToDo !== null) {
      return tell(nothingToDo, { started: false });
    }
    const shown = [];
    const watch = start(order, call, found.facts, shown);
    let result;
    try {
      call.whileBusy(() => tell(STUCK, { started: true, submitted: watch.seen(), shown }));
      result = operation.dispatch(found.facts, found.spot, order.value, watch.seen);
      call.whileBusy(null);
      watch.stop();
      result = typeof result === "function" ? await result(() => call.over() !== null) : result;
    } catch (fault) {
      // A bug of ours, after something may have been done: that much must be told.
      call.whileBusy(null);
      watch.stop();
      result = { ok: false, reason: "internal", detail: words.cut(String(fault), limits.detail) };
    }
    dialogs.linger(LINGER_MS);
    return tell(result, { started: true, submitted: watch.seen(), shown });
  }

  function start(order, call, facts, shown) {
    if (order.focus && !document.hasFocus()) {
      window.focus(); // the address bar has the focus of the first tab after a start, and only this takes it away
    }
    if (order.mark) {
      ring.draw((facts.via ?? facts.el).getBoundingClientRect());
    }
    call.onStarted();
    dialogs.arm((dialog) => {
      if (shown.length < limits.dialogs) {
        shown.push(dialog);
      }
      call.onDialog(dialog);
    });
    return submits.watch(call.onSubmitted);
  }

  function tell(result, { started, submitted = false, shown = [] }) {
    return JSON.stringify({ ...result, started, submitted, navigated: false, dialogs: shown });
  }

  return { act };
});
