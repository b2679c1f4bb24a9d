// act: one operation on one control, checked and done in the same turn.
//
// Purpose: nothing happens to a page but what was judged. `act(order, call)` -> JSON text of an ActResult; rejects with `{ code,
// message }` when the call was over (cancelled, too late, Port lost) before anything was dispatched. `order`: `{ call, document,
// host, node, guard, key, formKey, op, value, mark, focus, dialog }`, as judged. `call`: `{ over() -> null or { code, message },
// onStarted(), onSubmitted(), onDialog(dialog), whileBusy(tell) }`; `tell` answers what is known so far, while the page's own code
// runs.
// Depends on: controls, dialogs, focus, guard, hover, identity, limits, numbers, operations, pause, pointer, proof, reach, ring,
// roles, sameness, sight, submits, tree, trusted, values, words.
//
// `locate(order, call)` -> JSON text of the point `{ x, y }` in this viewport at which the act would press, or null: for whoever
// looks whether something of the pages around this one lies over it. Node 0 is the page itself: it has no guard and can only be
// scrolled.
//
// `unfinished()`: the steps, as `did` has them, of an act that runs and has more to send; null when there is none.
//
// `aim(order, call)` and `finish(order, call)` are the two halves of an act that Firefox's own input does (trusted.js). The first
// answers JSON text of `{ chunks }`, what is to be sent, or of `{ outcome }` when nothing is; the second, with `order.stopped` when
// not all of it was sent, and `order.strayed` when some of it came to another document of the tab, the ActResult.
//
// An operation that takes several turns asks `steps.stop()` after each wait; what it has done so far stands in the result as `did`.
// Between the checks and the first event nothing is awaited: after each wait everything is checked again. `onStarted` is called
// right before the first event, so that whoever loses us after that knows that something may have been done, and whoever loses us
// before it knows that nothing was.
"use strict";

foxloop.define("act", (parts) => {
  const { controls, dialogs, focus, guard, hover, identity, limits, numbers, operations, pause, pointer, proof, reach } = parts;
  const { ring, roles, sameness, sight, submits, tree, trusted, values, words } = parts;
  const SCROLL_PAUSE_MS = 50;
  const HOVER_PAUSE_MS = 100; // for a menu to open under the pointer
  const MOST_STEPS = 50; // that a result names
  const LINGER_MS = 1000; // how long dialogs are still answered when nobody asks us to settle

  const PAGE = 0;

  const STUCK = {
    ok: false,
    reason: "dialog",
    detail: "the page has not come back: a dialog of its own is open, or it waits for something",
  };

  const refuse = (reason, detail) => ({ refusal: { ok: false, reason, ...(detail === undefined ? {} : { detail }) } });

  // An IPv6 address has brackets in an address, and none as a host name.
  const bare = (host) => host.toLowerCase().replace(/^\[|\]$/g, "");

  // A document without an address of its own (srcdoc, about:blank, blob:) is of the page that made it. A sandboxed one is nobody's.
  const hostHere = () => location.hostname || (URL.canParse(globalThis.origin) ? new URL(globalThis.origin).hostname : "");

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
    if (bare(hostHere()) !== bare(order.host)) {
      return refuse("other-site", "host differs");
    }
    const operation = operations.operation(order.op);
    if (order.node === PAGE) {
      return checkPage(operation, order.value);
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

  function checkPage(operation, value) {
    if (operation.page === undefined) {
      return refuse("unsupported", "the page itself can only be scrolled");
    }
    const facts = { el: operation.page(), via: null, role: "page", disabled: false, secret: false, sensitive: false };
    const refusal = operation.unfit(facts, value);
    return refusal === null ? { facts, elsewhere: false, token: null } : { refusal };
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

  // Scrolls until a point of the control can be pressed. The last check and the answer are of the same turn.
  async function find(order, call) {
    const operation = operations.operation(order.op);
    let before = null;
    for (let attempt = 0; ; attempt += 1) {
      stopIfOver(call);
      const checked = check(order, before);
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
        return { ...checked, spot };
      }
      if (!reach.bring(el, via, attempt, spot.cover)) {
        return refuse("covered", words.cut(reach.coverName(spot.cover), limits.detail));
      }
      await pause.drawn(SCROLL_PAUSE_MS);
    }
  }

  let underway = null; // the steps of an act that has more to send

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
      more: (is) => {
        underway = is ? did : null;
      },
      over: () => call.over() !== null,
      // Null, or why it is another control by now. `how`: see sameness.js.
      same: (how) => (token === null ? null : sameness.differs(token, how)),
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
        return bare(hostHere()) === bare(order.host) ? null : { ok: false, reason: "other-site", detail: "host differs" };
      },
    };
  }

  async function locate(order, call) {
    const { spot } = await find(order, call);
    return JSON.stringify(spot?.point === undefined ? null : { x: spot.point.x, y: spot.point.y });
  }

  // What shows only while the pointer is over something else: the pointer comes over that first, as a person's would. Answers null
  // when the control does not depend on the pointer, else whether it was brought out, and what is to be done if it was not.
  async function bringOut(order, call, shown) {
    const el = numbers.find(order.node);
    const turn = sight.createSight();
    hover.reveal(turn);
    const place = el === null ? null : hover.over(el, turn);
    if (place === null) {
      return null;
    }
    const advice = `it shows only while the pointer is over element ${numbers.numberOf(place)} of its frame: hover that one first`;
    const spot = reach.reach(place, null);
    if (spot.point === undefined) {
      return { out: false, advice };
    }
    call.onStarted();
    hearDialogs(call, shown, null);
    pointer.over(spot.onto, spot.point);
    await pause.drawn(HOVER_PAUSE_MS);
    return { out: true, advice };
  }

  function hearDialogs(call, shown, answer, evidence = null) {
    dialogs.arm((dialog) => {
      if (shown.length < limits.dialogs) {
        shown.push(dialog);
      }
      evidence?.saw("dialog");
      if (dialog.kind === "beforeunload" && dialog.answer === false) {
        evidence?.stayed();
      }
      call.onDialog(dialog);
    }, answer);
  }

  async function act(order, call) {
    const shown = [];
    let found = await find(order, call);
    const hidden = found.refusal?.reason === "hidden" ? await bringOut(order, call, shown) : null;
    if (hidden?.out) {
      found = await find(order, call).catch((fault) => ({ refusal: { ok: false, reason: fault.code, detail: fault.message } }));
    }
    if (found.refusal !== undefined) {
      const still = hidden !== null && found.refusal.reason === "hidden";
      if (hidden?.out) {
        dialogs.linger(LINGER_MS);
      }
      return tell(still ? { ...found.refusal, detail: hidden.advice } : found.refusal, { started: hidden?.out === true, shown });
    }
    const operation = operations.operation(order.op);
    const nothingToDo = operation.done?.(found.facts) ?? null;
    if (nothingToDo !== null) {
      return tell(nothingToDo, { started: hidden?.out === true, shown });
    }
    const evidence = proof.begin(found.facts, operation);
    const watch = start(order, call, found.facts, shown, evidence);
    const steps = stepsOf(order, call, found, watch, shown, evidence);
    if (hidden?.out) {
      steps.note("over");
    }
    let result;
    try {
      result = steps.same(); // giving the window the focus ran the page's handlers
      call.whileBusy(() => tell({ ...STUCK, ...evidence.told() }, { started: true, submitted: watch.seen(), shown, steps }));
      result ??= operation.dispatch(found.facts, found.spot, order.value, steps);
      call.whileBusy(null);
      result = typeof result === "function" ? await result() : result;
      result = await evidence.judge(result, steps.over);
    } catch (fault) {
      // A bug of ours, after something may have been done: that much must be told.
      call.whileBusy(null);
      result = { ok: false, reason: "internal", detail: words.cut(String(fault), limits.detail) };
    }
    underway = null;
    watch.stop();
    evidence.stop();
    dialogs.linger(LINGER_MS);
    const elsewhere = found.elsewhere ? { changed_elsewhere: true } : {};
    return tell({ ...result, ...evidence.told(), ...elsewhere }, { started: true, submitted: watch.seen(), shown, steps });
  }

  let aimed = null; // { call, found, evidence, watch, shown, steps, operation, plan, input, timer }

  async function aim(order, call) {
    if (order.frame !== 0 || document.hidden) {
      return aimless(refuse("needs-focus", "input of Firefox's own comes to the top document of a tab in front"));
    }
    dropAim();
    const found = await find(order, call);
    if (found.refusal !== undefined) {
      return aimless(found);
    }
    const { el, via } = found.facts;
    const operation = operations.operation(order.op);
    const nothingToDo = operation.done?.(found.facts) ?? null;
    if (nothingToDo !== null) {
      return aimless({ refusal: nothingToDo });
    }
    const spot = found.spot ?? reach.reach(el, via);
    if (order.op !== "press" && spot.point === undefined) {
      return aimless(refuse("covered", words.cut(reach.coverName(spot.cover), limits.detail)));
    }
    const plan = trusted.plan(order.op, found.facts, spot, order.value) ?? refuse("unsupported", "no hand does that");
    if (plan.refusal !== undefined) {
      return aimless(plan);
    }
    const shown = [];
    const evidence = proof.begin(found.facts, operation);
    const watch = start(order, call, found.facts, shown, evidence);
    const steps = stepsOf(order, call, found, watch, shown, evidence);
    if (order.op === "press" && !(tree.active() !== null && tree.within(el, tree.active()))) {
      focus.give(el);
    }
    evidence.ready();
    let { token } = found; // as it is when it is judged: the pointer's way to it may have changed its looks
    function judge() {
      const checked = check(order, found.facts);
      token = checked.token ?? token;
      return checked.refusal ?? null;
    }
    const same = (how) => (token === null ? null : sameness.differs(token, how));
    const input = trusted.guard({ el, kinds: plan.kinds, judge, same, over: () => aimed?.call !== order.call || aimed.over });
    const timer = setTimeout(expire, Math.max(0, order.deadline - Date.now()) + LINGER_MS);
    aimed = { call: order.call, over: false, found, evidence, watch, shown, steps, operation, plan, input, timer };
    return JSON.stringify({ chunks: plan.chunks });
  }

  const aimless = ({ refusal }) => `{"outcome":${tell(refusal, { started: false })}}`;

  // Nobody came in time to finish it: what still arrives is not let through, and what arrived is told to who comes.
  function expire() {
    if (aimed !== null) {
      aimed.over = true;
      clearTimeout(aimed.timer);
      aimed.input.end(true);
      dialogs.linger(LINGER_MS);
    }
  }

  function dropAim() {
    if (aimed !== null) {
      const { evidence, watch } = aimed;
      expire();
      aimed = null;
      watch.stop();
      evidence.stop();
    }
  }

  async function finish(order) {
    if (aimed?.call !== order.call) {
      return tell({ ok: false, reason: "gone", detail: "it was not aimed at any more" }, { started: false });
    }
    const { found, evidence, watch, shown, steps, operation, plan, input, timer, over } = aimed;
    clearTimeout(timer);
    const started = input.passed();
    let result = input.refusal();
    if (started) {
      steps.note(plan.word);
    }
    try {
      if (result === null && (order.stopped || over)) {
        result = { ok: false, reason: "cancelled", detail: "stopped on the way: see what it did" };
      } else if (result === null && order.strayed) {
        result = { ok: false, reason: "stale", detail: "the input would have come to another document of the page" };
      } else if (result === null && !started) {
        result = { ok: false, reason: "unsupported", detail: "no input of Firefox's own came" };
      }
      result ??= (await operation.after?.(found.facts, order.value, steps)) ?? { ok: true };
      result = await evidence.judge(result, () => false);
    } catch (fault) {
      result = { ok: false, reason: "internal", detail: words.cut(String(fault), limits.detail) };
    }
    aimed = null;
    input.end(order.stopped || over || order.strayed);
    watch.stop();
    evidence.stop();
    dialogs.linger(LINGER_MS);
    const elsewhere = found.elsewhere ? { changed_elsewhere: true } : {};
    return tell({ ...result, ...evidence.told(), ...elsewhere }, { started, submitted: watch.seen(), shown, steps });
  }

  function start(order, call, facts, shown, evidence) {
    if (order.focus && !document.hasFocus()) {
      window.focus(); // the address bar has the focus of the first tab after a start, and only this takes it away
    }
    if (order.mark && order.node !== PAGE) {
      ring.draw((facts.via ?? facts.el).getBoundingClientRect());
    }
    call.onStarted();
    hearDialogs(call, shown, order.dialog ?? null, evidence);
    return submits.watch(call.onSubmitted);
  }

  function tell(result, { started, submitted = false, shown = [], steps = null }) {
    const did = steps === null || steps.did.length === 0 ? {} : { did: steps.did };
    return JSON.stringify({ ...result, ...did, started, submitted, navigated: false, dialogs: shown });
  }

  return { act, aim, finish, locate, unfinished: () => underway };
});
