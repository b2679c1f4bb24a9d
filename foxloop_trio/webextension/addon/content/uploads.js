// uploads: operation `files`: puts files that the host gave into a file field, or drops them on a place that takes some.
//
// The value: `{ files: [{ name, type, size }] }`, as judged. Their bytes come before, in pieces, by `stage(call, { index, data })`,
// base64; what is staged for a call that does not come is forgotten after a minute, or by `forget(calls)`. At most 10 files and 25
// MiB.
// A button that opens a file chooser is pressed, and the field it means gets the files: no chooser opens. `take(call)`: the bytes.
// Depends on: choosers, limits, pause, pointer, reach, tree, typing, values, words.
"use strict";

foxloop.define("uploads", ({ choosers, limits, pause, pointer, reach, tree, typing, values, words }) => {
  const MOST_BYTES = 25 * 2 ** 20;
  const KEPT_MS = 60_000;
  const staged = new Map(); // call -> { pieces: [[Uint8Array]], bytes, timer }

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function stage(call, { index, data }) {
    const entry = staged.get(call) ?? { pieces: [], bytes: 0, timer: null };
    const piece = Uint8Array.fromBase64(data);
    entry.bytes += piece.length;
    if (index >= limits.files || entry.bytes > MOST_BYTES || (staged.size >= 2 && !staged.has(call))) {
      drop(call);
      throw new Error(`at most ${limits.files} files and ${MOST_BYTES} bytes can be staged`);
    }
    (entry.pieces[index] ??= []).push(piece);
    clearTimeout(entry.timer);
    entry.timer = setTimeout(drop, KEPT_MS, call);
    staged.set(call, entry);
  }

  function drop(call) {
    clearTimeout(staged.get(call)?.timer);
    staged.delete(call);
  }

  function take(call) {
    const entry = staged.get(call);
    drop(call);
    return entry?.pieces ?? [];
  }

  const isFileField = (el) => el.localName === "input" && el.type === "file";

  function accepts(field, { name, type }) {
    const tokens = (field.getAttribute("accept") ?? "")
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((token) => token !== "");
    return (
      tokens.length === 0 ||
      tokens.some(
        (token) =>
          (token.startsWith(".") && name.toLowerCase().endsWith(token)) ||
          token === type.toLowerCase() ||
          (token.endsWith("/*") && type.toLowerCase().startsWith(token.slice(0, -1))),
      )
    );
  }

  // Why this field does not get these files; null when it may.
  function unfitField(field, files) {
    if (values.isDisabled(field)) {
      return refuse("disabled", "the file field is disabled");
    }
    if (files.length > 1 && !field.multiple) {
      return refuse("unsupported", "it takes one file only");
    }
    const stranger = files.find((file) => !accepts(field, file));
    return stranger === undefined ? null : refuse("unsupported", words.cut(`it takes ${field.accept} only`, limits.detail));
  }

  function unfit({ el }, value) {
    const files = value?.files;
    if (!Array.isArray(files) || files.length > limits.files) {
      return refuse("unsupported", `files are { files: [{ name, type, size }] }, at most ${limits.files}`);
    }
    if (files.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES) {
      return refuse("unsupported", "at most 25 MiB");
    }
    const field = fieldIn(el);
    return field === null ? null : unfitField(field, files);
  }

  const fieldIn = (el) => (isFileField(el) ? el : el.querySelector('input[type="file" i]'));

  function made(files, pieces) {
    const complete = files.every(({ size }, at) => (pieces[at] ?? []).reduce((sum, piece) => sum + piece.length, 0) === size);
    return complete ? files.map(({ name, type }, at) => new File(pieces[at] ?? [], name, { type })) : null;
  }

  // Made in the page's name where it is dropped: what an add-on puts there no page may read.
  function transfer(list, world = null) {
    const data = new DataTransfer();
    list.forEach((file) => (world === null ? data.items.add(file) : data.wrappedJSObject.items.add(cloneInto(file, world))));
    return data;
  }

  function put(field, list, steps) {
    field.files = transfer(list).files;
    typing.announceInput(field, null);
    typing.announceChange(field);
    steps.note("set");
  }

  async function held(field, files) {
    await pause.pause(0);
    const names = values.filesOf(field);
    const told = { value: words.cut(names.join(", "), limits.value) };
    // Pages often take the files and empty the field for the next ones.
    const kept = names.length === 0 || files.every(({ name }) => names.includes(name));
    return kept ? { ok: true, ...told } : { ...refuse("mismatch", "the field holds other files now"), ...told };
  }

  function dispatch({ el }, spot, value, steps) {
    const list = made(value.files, take(steps.call));
    if (list === null) {
      return refuse("unsupported", "the files' bytes did not come, or are not as many as was judged");
    }
    const field = fieldIn(el);
    if (field !== null) {
      put(field, list, steps);
      return () => held(field, value.files);
    }
    return tree.closest(el, "button, a, label, input, [role=button], [role=link]") === null
      ? dropOn(el, spot, list, steps)
      : pressFor(el, spot, list, value.files, steps);
  }

  function pressFor(el, spot, list, files, steps) {
    const waiting = choosers.catchNext();
    const taken = pointer.press(el, spot, { same: steps.same, again: steps.again });
    steps.note("press");
    if (taken !== null) {
      waiting.end();
      return taken;
    }
    return async () => {
      await pause.pause(0);
      const field = waiting.end();
      const stopped = steps.stop({ present: false });
      if (stopped !== null) {
        return stopped;
      }
      if (field === null) {
        return refuse("unsupported", "no file field came of the press");
      }
      const unfitting = unfitField(field, files);
      if (unfitting !== null) {
        return unfitting;
      }
      put(field, list, steps);
      return held(field, files);
    };
  }

  function dropOn(el, { point, onto }, list, steps) {
    const data = transfer(list, window.wrappedJSObject);
    const to = reach.under(el, point) ?? onto;
    const send = (type) =>
      to.dispatchEvent(new DragEvent(type, { ...pointer.sender(to, point).common, bubbles: true, dataTransfer: data }));
    send("dragenter");
    if (send("dragover")) {
      send("dragleave");
      steps.note("offered");
      return refuse("unsupported", "the page takes no files there");
    }
    send("drop");
    steps.note("drop");
    return { ok: true, value: words.cut(list.map(({ name }) => name).join(", "), limits.value) };
  }

  return { files: { unfit, dispatch }, stage, forget: (calls) => calls.forEach(drop) };
});
