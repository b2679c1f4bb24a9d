// Which typed fields a person can see, and what kind each is; see _bench_pages_eye.py. Called with the fields by form, as JSON.
(text) => {
  const forms = JSON.parse(text);
  const here = [...document.querySelectorAll("form")];
  const shown = (element) => {
    if (!element.isConnected) return "gone";
    if (element.closest("[inert]")) return "inert";
    if (element.closest("[aria-hidden=true]")) return "aria-hidden";
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false })) return "not rendered";
    const box = element.getBoundingClientRect();
    if (box.width <= 2 || box.height <= 2) return "no size";
    if (box.right + scrollX <= 0 || box.bottom + scrollY <= 0) return "off the page";
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.clip !== "auto" && /^rect\((0px|1px)[ ,]+(0px|1px)[ ,]+(0px|1px)[ ,]+(0px|1px)\)$/.test(style.clip)) return "clipped";
      if (/^inset\((50|100)%/.test(style.clipPath)) return "clipped";
      if (/opacity\(0\)/.test(style.filter)) return "transparent";
      if (at === element || style.overflow === "visible" || style.display === "inline" || at === document.body || at === document.documentElement) continue;
      const around = at.getBoundingClientRect();
      const hides = style.overflowX === "hidden" || style.overflowX === "clip" || style.overflowY === "hidden" || style.overflowY === "clip";
      if (hides && (around.width <= 2 || around.height <= 2)) return "clipped";
      const apart = box.right <= around.left || box.left >= around.right || box.bottom <= around.top || box.top >= around.bottom;
      if (style.overflowX === "hidden" && style.overflowY === "hidden" && apart) return "outside its frame";
    }
    return "";
  };
  const kind = (element) => {
    if (element.localName === "select") return element.multiple || element.size > 1 ? "list" : "select";
    if (element.localName === "textarea") return "text";
    if (element.localName === "button") return "button";
    const type = element.type;
    if (type === "search" && element.getAttribute("role") === "textbox") return "text"; // ARIA has the last word on what it is
    if (["button", "submit", "reset", "image"].includes(type)) return "button";
    if (["checkbox", "radio", "search", "number", "password", "file", "range", "color"].includes(type)) return type;
    return "text";
  };
  const fields = [];
  const used = new Set();
  forms.forEach((form, position) => {
    for (const [name, typed] of Object.entries(form)) {
      const same = (one) => one.name === name && !used.has(one) && one.type !== "hidden" && ["input", "select", "textarea", "button"].includes(one.localName);
      let found = here[position] ? [...here[position].elements].filter(same) : [];
      if (!found.length) found = [...document.getElementsByName(name)].filter(same);
      for (const element of found) {
        used.add(element);
        const mark = fields.length;
        let why = shown(element), byLabel = false;
        if (why && ["checkbox", "radio", "file"].includes(element.type) && [...(element.labels || [])].some((one) => shown(one) === "")) {
          byLabel = true; why = "";
        }
        const box = element.getBoundingClientRect();
        fields.push({ mark, name, typed, kind: kind(element), tag: element.localName, visible: why === "", by_label: byLabel, why_not: why,
          box: [box.left, box.top, box.width, box.height].map((part) => Math.round(part * 2) / 2) });
      }
    }
  });
  return JSON.stringify({ fields, elements: document.getElementsByTagName("*").length });
}
