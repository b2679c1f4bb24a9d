// act: one operation on one control, checked and done in the same turn.
//
// Purpose: nothing happens to a page but what was judged. `act(order, call)` -> JSON text of an ActResult; rejects with `{ code,
// message }` when the call was over (cancelled, too late, Port lost) before anything was dispatched. `order`: `{ call, document,
// host, node, guard, key, formKey, op, value, mark, focus, dialog }`, as judged. `call`: `{ over() -> null or { code, message },
// onStarted(), onSubmitted(), onDialog(dialog), whileBusy(tell) }`; `tell` answers what is known so far, while the page's own code
// runs.
// Depends on: controls, dialogs, guard, hover, hovering, identity, limits, numbers, operations, outer, pause, proof, reach, ring,
// roles, sameness, sight, submits, tree, values, words.
//
// An operation that takes several turns asks `steps.stop()` after each wait; what it has done so far stands in the result as `did`.
// Between the checks and the first event nothing is awaited: after each wait everything is checked again. `onStarted` is called
// right before the first event, so that whoever loses us after that knows that something may have been done, and whoever loses us
// before it knows that nothing was.
"use strict";

foxloop.define("act", (parts) => {
  const { controls, dialogs, guard, hover, hovering, identity, limits, numbers, operations, outer, pause, proof } = parts;
  const { reach, ring, roles, sameness, sight, submits, tree, values, words } = parts;
  const SCROLL_PAUSE_MS = 50;
  const MOST_FRAMES = 5; // around this one, which are scrolled until it is in view
  const MOST_STEPS = 50; // that a result names
  const LINGER_MS = 1000; // how long dialogs are still answered when nobody asks us to settle

  const STUCK = {
    ok: false,
    reason: "dialog",
    detail: "the page has not come back: a dialog of its own is open, or it waits for something",
  };

  const refuse = (reason, detail) => ({ refusal: { ok: false, reason, ...(detail === undefined ? {} : { detail }) } });

  // An IPv6 address has brackets in an address, and none as a host name.
  const bare = (host) => host.toLowerCase().replace(/^\[|\]$/g, "");

  // A long text in an editor that draws only what is in view is another one after we scrolled.
  const differs = (facts, turn, order, before) =>
    guard.guardOf(facts, turn) !== order.guard &&
    !(before !== null && roles.isEditable(facts.el) && guard.guardOf({ ...facts, value: before.value }, turn) === order.guard);

  // The checks of one turn: the facts about the control, or why it is refused. `before`: the facts as they were found, before we
  // scrolled.
  function check(order, before) {
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
    if (differs(facts, turn, order, before)) {
      return refuse("stale", "control differs");
    }
    const elsewhere = guard.keyOf(turn) !== order.key;
    if (elsewhere && (order.formKey === undefined || guard.formKeyOf(facts, turn) !== order.formKey)) {
      return refuse("stale", "page differs");
    }
    const operation = operations.operation(order.op);
    if (facts.disabled && operation.evenDisabled !== true) {
      return refuse("disabled");
    }
    if (operation.edits === true && values.isReadOnly(el)) {
      return refuse("readonly");
    }
    if (operation.needsFocus?.(facts) === true && !document.hasFocus() && !(order.focus && !document.hidden)) {
      return refuse("needs-focus", "this works only in a tab that has the focus");
    }
    const refusal = operation.unfit(facts, order.value);
    return refusal === null ? { facts, elsewhere, token: sameness.take(el, turn) } : { refusal };
  }

  // What only a style sheet's `:hover` shows is shown for the time of the act (page reference 21.5): as if the mouse were over what
  // it hangs from. Answers whether it is such a control; nothing is sent.
  function revealed(order) {
    const el = numbers.find(order.node);
    if (el === null) {
      return false;
    }
    const turn = sight.createSight();
    hover.reveal(turn);
    const place = hover.over(el, turn);
    if (place === null) {
      return false;
    }
    const line = [];
    for (let at = place; at !== null; at = tree.parent(at)) {
      line.push(at);
    }
    hovering.follow(line);
    return true;
  }

  function stopIfOver(call) {
    const fault = call.over();
    if (fault !== null) {
      throw fault;
    }
  }

  // The point of its box that was asked for, in percent; null for any.
  function pointIn(operation, value) {
    const at = operation.pointed === true && value !== null && typeof value === "object" ? (value.from ?? value) : {};
    return Number.isFinite(at.x) && Number.isFinite(at.y) ? { x: at.x, y: at.y } : null;
  }

  function reachedBy(operation, value, { el, via }) {
    const at = pointIn(operation, value);
    return at === null ? reach.reach(el, via) : reach.reachAt(el, via, at);
  }

  // The control, and a point where it can be pressed; what was shown for that is hidden again when nothing comes of it.
  async function find(order, call) {
    const state = { shown: false }; // by us, since it needs the mouse
    let found = null;
    try {
      found = await seek(order, call, state);
      return found;
    } finally {
      if (state.shown && (found === null || found.refusal !== undefined)) {
        hovering.letGo();
      }
    }
  }

  // Scrolls until a point of the control can be pressed. The last check and the answer are of the same turn.
  async function seek(order, call, state) {
    const operation = operations.operation(order.op);
    let before = null;
    for (let attempt = 0; ; attempt += 1) {
      stopIfOver(call);
      const checked = check(order, before);
      if (checked.refusal?.reason === "hidden" && checked.refusal.detail === undefined && !state.shown && revealed(order)) {
        state.shown = true;
        attempt = -1;
        await pause.drawn(SCROLL_PAUSE_MS);
        continue;
      }
      if (checked.refusal !== undefined || operation.anywhere === true) {
        return checked;
      }
      const { el, via } = checked.facts;
      before ??= checked.facts;
      if (typeof operation.anywhere === "function" && operation.anywhere(checked.facts)) {
        return checked;
      }
      const reached = () => reachedBy(operation, order.value, checked.facts);
      const spot = reach.mustScroll(el, via) ? { cover: null } : reached();
      if (spot.point !== undefined) {
        const around = outer.blocked(spot.point);
        if (around === null) {
          return { ...checked, spot };
        }
        if (around.cover !== null || attempt > MOST_FRAMES) {
          return refuse("covered", words.cut(reach.coverName(around.cover), limits.detail));
        }
        outer.bring(around.frame);
        await pause.drawn(SCROLL_PAUSE_MS);
        continue;
      }
      if (!reach.bring(el, via, attempt, spot.cover)) {
        return refuse("covered", words.cut(reach.coverName(spot.cover), limits.detail));
      }
      await pause.drawn(SCROLL_PAUSE_MS);
    }
  }

  // What an operation is given: where it says what it did, and asks whether it may go on.
  function stepsOf(order, call, { facts, token }, watch, shown, evidence) {
    const did = [];
    return {
      did,
      call: order.call,
      submitted: watch.seen,
      ready: evidence.ready,
      saw: evidence.saw,
      note: (word) => did.length < MOST_STEPS && did.push(word),
      over: () => call.over() !== null,
      // Null, or why it is another control by now. `how`: see sameness.js.
      same: (how) => sameness.differs(token, how),
      again: () => reachedBy(operations.operation(order.op), order.value, facts),
      // After each wait: null, or why nothing more is sent.
      stop({ present = true } = {}) {
        const fault = call.over();
        if (fault !== null) {
          return { ok: false, reason: fault.code, detail: "stopped half way: see what it did" };
        }
        if (present && !facts.el.isConnected) {
          return { ok: false, reason: "gone", detail: "it left the page meanwhile" };
        }
        if (present && values.isDisabled(facts.el)) {
          return { ok: false, reason: "disabled", detail: "it was disabled meanwhile" };
        }
        return bare(location.hostname) === bare(order.host) ? null : { ok: false, reason: "other-site", detail: "host differs" };
      },
    };
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
    const evidence = proof.begin(found.facts, operation);
    const watch = start(order, call, found.facts, shown, evidence);
    const steps = stepsOf(order, call, found, watch, shown, evidence);
    let result;
    try {
      result = steps.same(); // giving the window the focus ran the page's handlers
      call.whileBusy(() => tell(STUCK, { started: true, submitted: watch.seen(), shown, steps }));
      result ??= operation.dispatch(found.facts, found.spot, order.value, steps);
      call.whileBusy(null);
      result = typeof result === "function" ? await result() : result;
      result = await evidence.judge(result, steps.over);
    } catch (fault) {
      // A bug of ours, after something may have been done: that much must be told.
      call.whileBusy(null);
      result = { ok: false, reason: "internal", detail: words.cut(String(fault), limits.detail) };
    }
    watch.stop();
    evidence.stop();
    dialogs.linger(LINGER_MS);
    const elsewhere = found.elsewhere ? { changed_elsewhere: true } : {};
    return tell({ ...result, ...evidence.told(), ...elsewhere }, { started: true, submitted: watch.seen(), shown, steps });
  }

  function start(order, call, facts, shown, evidence) {
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
      evidence.saw("dialog");
      if (dialog.kind === "beforeunload" && dialog.answer === false) {
        evidence.stayed();
      }
      call.onDialog(dialog);
    }, order.dialog ?? null);
    return submits.watch(call.onSubmitted);
  }

  function tell(result, { started, submitted = false, shown = [], steps = null }) {
    const did = steps === null || steps.did.length === 0 ? {} : { did: steps.did };
    return JSON.stringify({ ...result, ...did, started, submitted, navigated: false, dialogs: shown });
  }

  return { act };
});
