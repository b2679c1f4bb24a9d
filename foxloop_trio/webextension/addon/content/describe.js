// describe: one control as the wire has it (CONTROL of foxloop_trio/wire/_shapes.py).
//
// `describe(all, turn, score)` -> a list of plain objects, one for each of the facts. Fields that do not apply are left out:
// JSON.stringify drops what is undefined. `score`, or null, says which options of a long list matter.
// Depends on: dom, guard, hover, limits, looks, names, numbers, pageText, places, popups, roles, values, words.
"use strict";

foxloop.define("describe", (parts) => {
  const { dom, guard, hover, limits, looks, names, numbers, pageText, places, popups, roles, values, words } = parts;
  const IN_DIALOG = 'dialog, [role=dialog], [aria-modal="true"], [role=listbox], [role=menu], [role=grid]';
  const LOOKED_AT = new Set(["clickable", "draggable", "image", "shape", "text", "canvas"]);
  const SPEAKS = new Set(["link", "textbox", "searchbox", "combobox", "spinbutton", "slider", "tab", "option", "file"]);
  const ORDERED = new Set(["treeitem", "tab", "option", "menuitem"]);

  const attribute = (el, name, limit) => words.cut(dom.attribute(el, name) ?? "", limit);
  const orNothing = (text) => (text === "" ? undefined : text);
  const beyond = (text, limit) => (text.length > limit ? text.length - limit : undefined);

  function describe(all, turn, score) {
    const met = new Set();
    const repeated = new Set();
    for (const { label } of all) {
      (met.has(label) ? repeated : met).add(label);
    }
    return all.map((facts) => describeOne(facts, turn, score, repeated));
  }

  function describeOne(facts, turn, score, repeated) {
    const { el, role, label, form, row, secret, sensitive, value } = facts;
    const number = numbers.numberOf(el);
    const formNumber = form === null ? undefined : numbers.numberOf(form);
    const tag = el.localName;
    const isSelect = tag === "select";
    const submit = values.isSubmit(el);
    const box = turn.boxOf(facts.via ?? el);
    // What names itself and is like no other needs no words from around it, and they are dear to collect.
    const card = SPEAKS.has(role) && !repeated.has(label) ? null : places.cardOf(el, turn);
    const place = hover.over(el, turn);
    const owner = popups.ownersOf(turn).get(el);
    const told = {
      node: number,
      role,
      tag: words.cut(tag, limits.token),
      type: tag === "input" ? dom.type(el) : "",
      label: words.cut(label, limits.label),
      name: attribute(el, "name", limits.attribute),
      placeholder: attribute(el, "placeholder", limits.attribute),
      section: words.cut(facts.section, limits.section),
      value: words.cut(value, limits.value),
      value_more: beyond(value, limits.value),
      label_more: beyond(label, limits.label),
      ...(isSelect ? describeOptions(el, sensitive, score) : {}),
      multiple: isSelect || role === "file" ? el.multiple : undefined,
      checked: facts.state,
      expanded: values.expandedOf(el),
      disabled: facts.disabled,
      read_only: values.isReadOnly(el),
      required: values.isRequired(el),
      offscreen: box.right < 0 || box.bottom < 0 || box.left >= turn.view.width || box.top >= turn.view.height,
      form: formNumber,
      submit,
      dialog: dom.closest(el, IN_DIALOG) !== null,
      ...values.assistsOf(el, role),
      date_format: roles.typable(el, role) ? values.dateFormatOf(el, label) : undefined,
      secret,
      sensitive: sensitive || undefined,
      href: tag === "a" || tag === "area" ? orNothing(words.cut(places.hrefOf(el, turn), limits.addresses)) : undefined,
      row: row === null ? undefined : places.rowDigest(row, turn),
      row_text: card === null ? undefined : orNothing(rowText(card, turn, label)),
      via: facts.via === null ? undefined : "label",
      destination: submit ? describeDestination(places.destinationOf(el, dom.form(el), turn)) : undefined,
      description: orNothing(words.cut(names.descriptionOf(el, turn), limits.description)),
      popup_for: owner === undefined ? undefined : numbers.numberOf(owner),
      hover_only: place === null ? undefined : numbers.numberOf(place),
      behind_modal: places.isBehindModal(el, turn) || undefined,
      // In halves of a pixel, or the middle of a dot is missed.
      box: [box.left, box.top, box.width, box.height].map((part) => Math.round(part * 2) / 2),
      look: lookOf(el, role, label, turn),
      accept: role === "file" ? orNothing(attribute(el, "accept", limits.attribute)) : undefined,
      files:
        role === "file"
          ? values
              .filesOf(el)
              .slice(0, limits.files)
              .map((name) => words.cut(name, limits.attribute))
          : undefined,
      ...describeAria(el, role),
    };
    told.guard = guard.guardOf(facts, turn);
    return told;
  }

  function textOf(card, turn) {
    const memo = turn.memo("row texts");
    if (!memo.has(card)) {
      memo.set(card, pageText.brief(card, turn, limits.description));
    }
    return memo.get(card);
  }

  // The words of the row or card that an element stands in; "" where there is none.
  function rowOf(el, turn) {
    const card = places.cardOf(el, turn);
    return card === null ? "" : textOf(card, turn);
  }

  function rowText(card, turn, label) {
    const text = textOf(card, turn);
    return text === label ? "" : text; // nothing that is not known already
  }

  function lookOf(el, role, label, turn) {
    if (!LOOKED_AT.has(role) && label !== "") {
      return undefined;
    }
    return orNothing(words.cut(looks.lookOf(el, turn), limits.look));
  }

  function describeAria(el, role) {
    const popup = dom.attribute(el, "aria-haspopup");
    const current = dom.attribute(el, "aria-current");
    const level = Number(dom.attribute(el, "aria-level"));
    return {
      opens:
        popup === null || popup === "" || popup === "false"
          ? undefined
          : words.cut(popup === "true" ? "menu" : popup, limits.token),
      current: current === null || current === "" || current === "false" ? undefined : words.cut(current, limits.token),
      level: ORDERED.has(role) && Number.isInteger(level) && level > 0 ? level : undefined,
    };
  }

  function describeDestination({ url, method, target }) {
    return { url: words.cut(url, limits.addresses), method, target: words.cut(target, limits.attribute) };
  }

  // Of a long list: those that are selected, those that the focus names, then from the top. In the order of the page.
  function describeOptions(el, sensitive, score) {
    const options = values.optionsOf(el);
    let kept = options;
    if (options.length > limits.options) {
      const ranked = options.map((option, at) => ({
        option,
        at,
        rank: option.selected && !sensitive ? Infinity : (score?.(option.label) ?? 0),
      }));
      ranked.sort((a, b) => (a.rank === b.rank ? a.at - b.at : b.rank - a.rank));
      kept = ranked
        .slice(0, limits.options)
        .sort((a, b) => a.at - b.at)
        .map(({ option }) => option);
    }
    return {
      options: kept.map((option) => ({
        value: words.cut(option.value, limits.option),
        label: words.cut(option.label.trim(), limits.option),
        selected: !sensitive && option.selected,
      })),
      options_more: options.length > kept.length ? options.length - kept.length : undefined,
    };
  }

  return { describe, rowOf };
});
