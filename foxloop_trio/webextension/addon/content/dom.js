// dom: the questions that a read asks thousands of times, asked without looking the method up each time.
//
// Purpose: a content script sees a page's objects through Firefox's Xray wrappers, where `el.matches(...)` costs five times as much
// as the call itself: the method is looked up along all prototypes, each behind a wrapper of its own. The methods are taken once,
// from prototypes that the page cannot reach. `attribute`, `hasAttribute`, `matches`, `closest`, `query`, `queryAll`, `visible`,
// `rect`, `tag` and `shadow` ask an element; `queryAll` answers with an array. `type`, `value` and `form` ask a field, and answer
// undefined for what has no such thing; `fieldOf` asks a label. `kind`, `parent` (an element), `first`, `next`,
// `root` and `data` ask any node, of a text the last. `elements(list)`: a NodeList as an array; `hosts(list, most)`: the shadow
// hosts among its first. `children(el)`: the nodes in it.
// Depends on: nothing.
"use strict";

foxloop.define("dom", () => {
  const { getAttribute, hasAttribute, matches, closest, querySelector, querySelectorAll } = Element.prototype;
  const { checkVisibility, getBoundingClientRect } = Element.prototype;
  const { getRootNode } = Node.prototype;
  const { item } = NodeList.prototype;

  const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  const nodeType = getter(Node.prototype, "nodeType");
  const parentElement = getter(Node.prototype, "parentElement");
  const firstChild = getter(Node.prototype, "firstChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "openOrClosedShadowRoot");
  // Of what has them. An element of another namespace may have the same name; it is asked the long way.
  const ofTags = (name, interfaces) => {
    const getters = new Map(Object.entries(interfaces).map(([tag, made]) => [tag, getter(made.prototype, name)]));
    return (el) => {
      const get = getters.get(localName.call(el));
      if (get === undefined) {
        return undefined;
      }
      try {
        return get.call(el);
      } catch {
        return el[name];
      }
    };
  };
  const FIELDS = { input: HTMLInputElement, select: HTMLSelectElement, textarea: HTMLTextAreaElement };
  const BUTTON = { button: HTMLButtonElement };
  const OTHERS = { fieldset: HTMLFieldSetElement, label: HTMLLabelElement, legend: HTMLLegendElement };
  const MORE = { object: HTMLObjectElement, option: HTMLOptionElement, output: HTMLOutputElement };
  const characters = getter(CharacterData.prototype, "data");

  function elements(list) {
    const out = [];
    const { length } = list;
    for (let at = 0; at < length; at += 1) {
      out.push(item.call(list, at));
    }
    return out;
  }

  // Those of them that have a shadow root; there may be tens of thousands to ask.
  function hosts(list, most) {
    const out = [];
    const length = Math.min(list.length, most);
    for (let at = 0; at < length; at += 1) {
      const el = item.call(list, at);
      if (shadowRoot.call(el) !== null) {
        out.push(el);
      }
    }
    return out;
  }

  function children(el) {
    const out = [];
    for (let child = firstChild.call(el); child !== null; child = nextSibling.call(child)) {
      out.push(child);
    }
    return out;
  }

  return {
    attribute: (el, name) => getAttribute.call(el, name),
    hasAttribute: (el, name) => hasAttribute.call(el, name),
    matches: (el, selector) => matches.call(el, selector),
    closest: (el, selector) => closest.call(el, selector),
    query: (el, selector) => querySelector.call(el, selector),
    queryAll: (el, selector) => elements(querySelectorAll.call(el, selector)),
    visible: (el, options) => checkVisibility.call(el, options),
    rect: (el) => getBoundingClientRect.call(el),
    tag: (el) => localName.call(el),
    shadow: (el) => shadowRoot.call(el),
    type: ofTags("type", { ...FIELDS, ...BUTTON }),
    value: ofTags("value", FIELDS),
    form: ofTags("form", { ...FIELDS, ...BUTTON, ...OTHERS, ...MORE }),
    fieldOf: ofTags("control", { label: HTMLLabelElement }),
    kind: (node) => nodeType.call(node),
    parent: (node) => parentElement.call(node),
    first: (node) => firstChild.call(node),
    next: (node) => nextSibling.call(node),
    root: (node) => getRootNode.call(node),
    data: (text) => characters.call(text),
    elements,
    hosts,
    children,
  };
});
