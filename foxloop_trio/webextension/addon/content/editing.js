// editing: edits of text as a person's would be, in fields and in rich editors.
//
// Purpose: Firefox makes trusted beforeinput and input events of its editing commands, and editors listen to those. The commands go
// to whatever has the focus, so each is made only while that is the right element. `isField(el)`: a text field of HTML.
// `isEditor(el)`: it is, or is in, an editing host. `hostOf(el)`: that host. `takesText(el)`. `caret(el)` -> [start, end] of a
// field's selection, nulls where it has none. `caretToEnd(el)`. `has(el)`: the focus is in it. `selectAll(el)`. `insert(el, text)`,
// `remove(el, forward)`, `lineBreak(el)`: edits at the selection; false when they were not made.
// Depends on: roles, tree, values.
"use strict";

foxloop.define("editing", ({ roles, tree, values }) => {
  const isField = (el) => (el.localName === "input" && roles.typable(el, roles.roleOf(el))) || el.localName === "textarea";

  function hostOf(el) {
    let host = null;
    for (let at = el; at !== null; at = tree.parent(at)) {
      if (roles.isEditable(at)) {
        host = at;
      } else if (host !== null && !at.isContentEditable) {
        break;
      }
    }
    return host;
  }

  const isEditor = (el) => !isField(el) && hostOf(el) !== null;
  const takesText = (el) => (isField(el) || isEditor(el)) && !values.isReadOnly(el) && !values.isDisabled(el);

  function caret(el) {
    try {
      return [el.selectionStart, el.selectionEnd];
    } catch {
      return [null, null];
    }
  }

  // Where a person goes on writing.
  function caretToEnd(el) {
    if (isField(el)) {
      if (caret(el)[0] !== null) {
        el.setSelectionRange(el.value.length, el.value.length);
      }
    } else if (isEditor(el) && has(el)) {
      document.getSelection()?.selectAllChildren(hostOf(el));
      document.getSelection()?.collapseToEnd();
    }
  }

  function has(el) {
    const active = tree.active();
    return active !== null && (active === el || tree.within(el, active) || (isEditor(el) && tree.within(active, el)));
  }

  function selectAll(el) {
    if (isField(el)) {
      el.select();
    } else if (isEditor(el) && has(el)) {
      document.execCommand("selectAll");
    } else {
      document.getSelection()?.selectAllChildren(el);
    }
  }

  function command(el, name, text) {
    return has(el) && document.execCommand(name, false, text);
  }

  function announce(el, inputType, data) {
    el.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType, data }));
  }

  function put(el, text) {
    const [start, end] = caret(el);
    if (start === null) {
      el.value += text; // a field whose caret cannot be asked for
    } else {
      el.setRangeText(text, start, end, "end");
    }
    announce(el, "insertText", text);
    return true;
  }

  // A tab in the background has no focus for commands; a field of HTML can be written to all the same.
  function insert(el, text) {
    if (text === "") {
      return true;
    }
    return command(el, "insertText", text) || (isField(el) && put(el, text));
  }

  function remove(el, forward) {
    return command(el, forward ? "forwardDelete" : "delete");
  }

  function lineBreak(el) {
    if (isField(el)) {
      return command(el, "insertText", "\n") || put(el, "\n");
    }
    const plain = hostOf(el)?.getAttribute("contenteditable")?.toLowerCase() === "plaintext-only";
    return command(el, plain ? "insertLineBreak" : "insertParagraph");
  }

  return { isField, isEditor, hostOf, takesText, caret, caretToEnd, has, selectAll, insert, remove, lineBreak };
});
