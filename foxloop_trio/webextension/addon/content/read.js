// read: the whole document as a FrameState (foxloop_trio/wire/_shapes.py has its schema).
//
// `read(frame)` -> JSON text, or null while the document has no body. Reading changes nothing: no focus, no scroll, no attribute,
// no event.
// Depends on: captcha, controls, guard, identity, limits, numbers, pageText, places, roles, sight, values, words.
"use strict";

foxloop.define("read", ({ captcha, controls, guard, identity, limits, numbers, pageText, places, roles, sight, values, words }) => {
  const attribute = (el, name, limit) => words.cut(el.getAttribute(name) ?? "", limit);

  // Fields without a value are left out: JSON.stringify drops what is undefined.
  function describe(facts) {
    const { el, role, label, form, row, secret } = facts;
    const number = numbers.numberOf(el);
    const submit = values.isSubmit(el);
    const href = el.localName === "a" ? attribute(el, "href", limits.addresses) : "";
    const box = (facts.via ?? el).getBoundingClientRect();
    return {
      node: number,
      role,
      tag: words.cut(el.localName, limits.token),
      type: el.localName === "input" ? el.type : "",
      label: words.cut(label, limits.label),
      name: attribute(el, "name", limits.attribute),
      placeholder: attribute(el, "placeholder", limits.attribute),
      section: words.cut(facts.section, limits.section),
      value: words.cut(facts.value, limits.value),
      options: el.localName === "select" ? values.optionsOf(el).slice(0, limits.options).map(describeOption) : undefined,
      multiple: el.localName === "select" ? el.multiple : undefined,
      checked: facts.state,
      expanded: values.expandedOf(el),
      disabled: facts.disabled,
      read_only: values.isReadOnly(el),
      required: values.isRequired(el),
      offscreen: box.right < 0 || box.bottom < 0 || box.left >= innerWidth || box.top >= innerHeight,
      form: form === null ? undefined : numbers.numberOf(form),
      submit,
      dialog: el.closest('dialog, [role=dialog], [aria-modal="true"], [role=listbox], [role=menu], [role=grid]') !== null,
      ...values.assistsOf(el, role),
      date_format: roles.typable(el, role) ? values.dateFormatOf(el, label) : undefined,
      secret,
      href: href === "" ? undefined : href,
      row: row === null ? undefined : places.rowDigest(row),
      via: facts.via === null ? undefined : "label",
      destination: submit ? describeDestination(places.destinationOf(el, el.form)) : undefined,
      guard: guard.guardOf(facts),
    };
  }

  function describeDestination({ url, method, target }) {
    return { url: words.cut(url, limits.addresses), method, target: words.cut(target, limits.attribute) };
  }

  function describeOption(option) {
    return {
      value: words.cut(option.value, limits.option),
      label: words.cut(option.label.trim(), limits.option),
      selected: option.selected,
    };
  }

  function read(frame) {
    if (document.body === null) {
      return null;
    }
    const turn = sight.createSight();
    const listed = [];
    let truncated = 0;
    numbers.prune();
    for (const el of roles.candidates()) {
      if (listed.length >= limits.controls) {
        truncated += roles.roleOf(el) !== null && controls.usable(el, turn) ? 1 : 0;
        continue;
      }
      const facts = controls.facts(el, turn);
      if (facts !== null) {
        listed.push(describe(facts));
      }
    }
    const title = words.cut(words.clean(document.title), limits.title);
    const text = pageText.text(turn);
    return JSON.stringify({
      frame,
      document: identity.document,
      url: words.cut(document.URL, limits.addresses),
      title,
      text,
      headings: pageText.headings(turn),
      controls: listed,
      captcha: captcha.present(turn, { title, text, controls: listed.length + truncated }),
      more: pageText.hasMore(),
      truncated,
      key: guard.keyOf(turn),
    });
  }

  return { read };
});
