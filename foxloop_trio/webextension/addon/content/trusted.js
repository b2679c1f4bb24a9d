// trusted: the other way to act: input of Firefox's own, which the runtime sends over WebDriver BiDi, judged here as it arrives.
//
// Purpose: some pages take no events of a script. `plan(op, facts, spot, value)` -> null when that operation is none for this way,
// `{ refusal }`, or `{ chunks, word, kinds }`: what the runtime is to send, piece by piece (ACTION of foxloop_trio/wire); what the
// result calls it; the events that are the act itself. `guard({ el, kinds, judge, same, over })` -> `{ passed(), refusal(),
// end(quiet) }`: from now on every trusted event of a pointer or a key is stopped before the page hears of it, unless it lands on
// the control, `judge()`, which is asked in the turn of the first one, has nothing against it, and `same(how)`, which is asked
// before each later one that does something, says that the control is still what was judged (sameness.js). `end(true)`: what is
// still on its way is stopped for a moment more. `shield(ms, onStray)`: the act is in another document of this tab, so for so long
// nothing of the kind is let through here; `onStray()` is told when something came. `shield(0)` ends it. In a Firefox that can
// have such input each document begins with one, until the background page has said whether an act is under way.
// Depends on: editing, keys, reach, tree.
//
// So that checking and acting are one turn here too: the event's listeners and its default action run right after ours, and no
// listener comes before ours, since content scripts are there before any script of the page. Firefox sends such input to where the
// pointer or the focus is in the process of the page, which may be a frame of another host of the same site: hence the shield.
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

  // What does something by itself, and does it to what the control is by then.
  const PRESSES = ["pointerdown", "mousedown", "click", "auxclick", "dblclick", "contextmenu", "keydown", "keypress"];
  const LOOK_MS = 100; // between two looks at a field while text comes
  const CLIPBOARD = new Set([
    ...["ctrl", "meta"].flatMap((held) => ["c", "x", "v", "shift+v"].map((key) => `${held}+${key}`)),
    ...["ctrl+Insert", "shift+Insert", "shift+Delete"],
  ]);

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

  // Firefox does at a real key what no script's key does: it reads or writes the clipboard of the person.
  function touchesClipboard(one) {
    const { name, ctrl, meta, shift } = one;
    return CLIPBOARD.has(keys.spelled({ name, ctrl: ctrl && !meta, alt: false, shift, meta }));
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
        if (keys.parse(value).some(touchesClipboard)) {
          return refuse("unsupported", "by hand these keys would use the person's own clipboard");
        }
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

  let current = null; // { kinds, hear }: the newest guard or shield, as long as it stops anything

  const listener = (event) => event.isTrusted && current?.kinds.includes(event.type) && current.hear(event);

  // document.open() takes all listeners away, but no observers, and those are told before the next event. What is there is not
  // added twice.
  function listen() {
    [...POINTER, ...MOVES, ...KEYS].forEach((type) => addEventListener(type, listener, { capture: true, passive: false }));
  }

  const other = (reason, detail) => ({ ok: false, reason, detail });

  function guard({ el, kinds, judge, same, over }) {
    let begun = false;
    let looked = 0;
    let refusal = null;
    let closed = null; // since when
    const down = new Set(); // keys and buttons, as the page has seen them
    let timer = null;

    // What follows a press that was let through belongs to it, wherever the page has moved things since.
    const follows = (event) => begun && ["pointerup", "mouseup", "click", "auxclick", "dblclick", "keyup"].includes(event.type);

    // Why the control is none any more to which this event may come. That it went when it was pressed is what presses do.
    function changed(event) {
      const here = tree.connected(el);
      if (!here) {
        return follows(event) ? null : other("gone", "it left the page meanwhile");
      }
      const presses = !(event instanceof KeyboardEvent) || event.key === "Enter" || event.key === " ";
      if (!PRESSES.includes(event.type) || (!presses && performance.now() - looked < LOOK_MS)) {
        return null;
      }
      looked = performance.now();
      const found = same({ changed: !presses, enters: event.key === "Enter" });
      return found?.reason === "gone" ? null : found;
    }

    function verdict(event) {
      if (refusal === null && over()) {
        refusal = other("cancelled", "stopped on the way: see what it did");
      }
      if (refusal === null && !follows(event) && tree.connected(el) && !landsOn(el, event)) {
        refusal = other("stale", "the input would have come to something else");
      }
      if (refusal === null && begun) {
        refusal = changed(event);
      } else if (refusal === null) {
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

  const BEGINNING_MS = 1000; // for the background page to say so

  let shielded = null; // { timer, mine }

  function shield(ms, onStray) {
    let strays = shielded?.strays() ?? 0; // of the beginning, when nobody was there to be told
    clearTimeout(shielded?.timer);
    if (shielded !== null && current === shielded.mine) {
      current = null;
    }
    shielded = null;
    if (ms <= 0) {
      return;
    }
    if (strays > 0) {
      onStray();
    }
    function hear(event) {
      event.preventDefault();
      event.stopImmediatePropagation();
      strays += 1;
      if (strays === 1) {
        onStray();
      }
    }
    const mine = { kinds: [...POINTER, ...MOVES, ...KEYS], hear };
    current = mine;
    shielded = { timer: setTimeout(shield, ms, 0), mine, strays: () => strays };
    listen();
  }

  listen();
  new MutationObserver(listen).observe(document, { childList: true });
  const begin = () => navigator.webdriver && shield(BEGINNING_MS, () => {});
  begin();
  return { plan, guard, shield, begin };
});
