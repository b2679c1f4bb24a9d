// trusted: the other way to act: input of Firefox's own, which the runtime sends over WebDriver BiDi, judged here as it arrives.
//
// Purpose: some pages take no events of a script. `plan(op, facts, spot, value)` -> null when that operation is none for this way,
// `{ refusal }`, or `{ chunks, word, kinds }`: what the runtime is to send, piece by piece (ACTION of foxloop_trio/wire); what the
// result calls it; the events that are the act itself. `guard({ el, kinds, judge, over })` -> `{ passed(), refusal(), end(quiet)
// }`: from now on every trusted event of a pointer or a key is stopped before the page hears of it, unless it lands on the control
// and `judge()`, which is asked in the turn of the first one, has nothing against it. `end(true)`: what is still on its way is
// stopped for a moment more.
// Depends on: editing, keys, reach, tree.
//
// So that checking and acting are one turn here too: the event's listeners and its default action run right after ours, and no
// listener comes before ours, since content scripts are there before any script of the page.
"use strict";

foxloop.define("trusted", ({ editing, keys, reach, tree }) => {
  const CHUNK = 50; // keys; a stop takes effect between two chunks on the way, and at once here
  const QUIET_MS = 500;
  const QUIET_MOST_MS = 10_000;
  const REST_MS = 50; // for what waits until the pointer rests
  const POINTER = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
  const MOVES = ["pointermove", "mousemove", "pointerover", "mouseover"];
  const KEYS = ["keydown", "keypress", "keyup"];

  // WebDriver's code points for keys that are no characters (W3C WebDriver, section 17.4.2).
  const CODE_POINTS = {
    Backspace: "\ue003",
    Tab: "\ue004",
    Enter: "\ue006",
    Escape: "\ue00c",
    PageUp: "\ue00e",
    PageDown: "\ue00f",
    End: "\ue010",
    Home: "\ue011",
    ArrowLeft: "\ue012",
    ArrowUp: "\ue013",
    ArrowRight: "\ue014",
    ArrowDown: "\ue015",
    Insert: "\ue016",
    Delete: "\ue017",
    ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`F${at + 1}`, String.fromCodePoint(0xe031 + at)])),
  };
  const HELD = { shift: "\ue008", ctrl: "\ue009", alt: "\ue00a", meta: "\ue03d" };
  const BUTTONS = { left: 0, right: 2 };

  const refuse = (reason, detail) => ({ refusal: { ok: false, reason, detail } });

  const move = ({ x, y }) => ({ do: "move", x: Math.round(x), y: Math.round(y) });
  const press = (button) => [
    { do: "down", button: BUTTONS[button] },
    { do: "up", button: BUTTONS[button] },
  ];

  function stroke(one) {
    const held = Object.keys(HELD).filter((name) => one[name]);
    const key = CODE_POINTS[one.key] ?? one.key;
    return [
      ...held.map((name) => ({ do: "key_down", char: HELD[name] })),
      { do: "key_down", char: key },
      { do: "key_up", char: key },
      ...held.reverse().map((name) => ({ do: "key_up", char: HELD[name] })),
    ];
  }

  function chunked(strokes) {
    const chunks = [];
    for (let at = 0; at < strokes.length; at += CHUNK) {
      chunks.push(strokes.slice(at, at + CHUNK).flatMap(stroke));
    }
    return chunks;
  }

  function planClick(spot, value) {
    const { count = 1, button = "left" } = value ?? {};
    const presses = Array.from({ length: count }, () => press(button)).flat();
    return { chunks: [[move(spot.point), ...presses]], word: "trusted press", kinds: [...POINTER, ...KEYS] };
  }

  function planType({ el }, spot, value) {
    if (el.localName === "input" && /[\r\n]/.test(value)) {
      return refuse("unsupported", "a line break typed into this field would send its form");
    }
    const all = stroke({ key: "a", [/Mac/.test(navigator.platform) ? "meta" : "ctrl"]: true });
    const text = value === "" ? [stroke({ key: "Delete" })] : chunked(keys.strokesOf(value.replace(/\r\n?/g, "\n")));
    return { chunks: [[move(spot.point), ...press("left"), ...all], ...text], word: "trusted type", kinds: [...POINTER, ...KEYS] };
  }

  function plan(op, facts, spot, value) {
    switch (op) {
      case "click":
        return planClick(spot, value);
      case "check":
      case "uncheck":
        return planClick(spot, null);
      case "hover": {
        const near = { x: spot.point.x + 1, y: spot.point.y };
        const steps = [move(spot.point), { do: "pause", ms: REST_MS }, move(near), move(spot.point)];
        return { chunks: [steps], word: "trusted hover", kinds: [...MOVES, ...POINTER, ...KEYS] };
      }
      case "press":
        return { chunks: chunked(keys.parse(value)), word: "trusted keys", kinds: [...KEYS, ...POINTER] };
      case "type":
        return editing.takesText(facts.el) ? planType(facts, spot, value) : null;
      default:
        return null;
    }
  }

  function landsOn(el, event) {
    if (event instanceof KeyboardEvent) {
      const active = tree.active();
      return active !== null && (tree.within(el, active) || tree.within(active, el));
    }
    const [onto] = event.composedPath();
    return onto?.nodeType === 1 && (tree.within(el, onto) || reach.lands(el, onto));
  }

  let current = null; // { kinds, hear }: the newest guard, as long as it stops anything

  const listener = (event) => event.isTrusted && current?.kinds.includes(event.type) && current.hear(event);

  // Said anew for each guard, since document.open() takes all listeners away; those that are there are not added twice.
  function listen() {
    [...POINTER, ...MOVES, ...KEYS].forEach((type) => addEventListener(type, listener, { capture: true, passive: false }));
  }

  function guard({ el, kinds, judge, over }) {
    let begun = false;
    let refusal = null;
    let closed = null; // since when
    const down = new Set(); // keys and buttons, as the page has seen them
    let timer = null;

    // What follows a press that was let through belongs to it, wherever the page has moved things since.
    const follows = (event) => begun && ["pointerup", "mouseup", "click", "auxclick", "dblclick", "keyup"].includes(event.type);

    function verdict(event) {
      if (refusal === null && over()) {
        refusal = { ok: false, reason: "cancelled", detail: "stopped on the way: see what it did" };
      }
      if (refusal === null && !follows(event) && tree.connected(el) && !landsOn(el, event)) {
        refusal = { ok: false, reason: "stale", detail: "the input would have come to something else" };
      }
      if (refusal === null && !begun) {
        refusal = judge();
        begun = refusal === null;
      }
      return refusal;
    }

    // A key or a button that the page has seen go down it sees come up, whatever has been stopped; nothing else comes of that.
    function isRelease(event) {
      const name = event instanceof KeyboardEvent ? event.key : "";
      const [, kind, way] = /^(key|pointer|mouse)(down|up)$/.exec(event.type) ?? [];
      return way === "up" && down.delete(`${kind} ${name}`);
    }

    function hear(event) {
      if (closed !== null || verdict(event) !== null) {
        event.preventDefault();
        if (!isRelease(event)) {
          event.stopImmediatePropagation();
        }
      } else if (event.type.endsWith("down")) {
        down.add(`${event.type.slice(0, -"down".length)} ${event instanceof KeyboardEvent ? event.key : ""}`);
      } else {
        isRelease(event);
      }
      if (closed !== null && performance.now() - closed < QUIET_MOST_MS) {
        rest();
      }
    }

    function stop() {
      if (current === mine) {
        current = null;
      }
    }

    function rest() {
      clearTimeout(timer);
      timer = setTimeout(stop, QUIET_MS);
    }

    const mine = { kinds, hear };
    current = mine;
    listen();
    return {
      passed: () => begun,
      refusal: () => refusal,
      end(quiet) {
        closed ??= performance.now();
        if (quiet) {
          rest();
        } else {
          stop();
        }
      },
    };
  }

  listen();
  return { plan, guard };
});
