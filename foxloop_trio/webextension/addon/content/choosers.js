// choosers: which file field does a button mean?
//
// Purpose: a page opens Firefox's file chooser by `click()` or `showPicker()` on a file field, which need not be in the page at
// all. `catchNext()` -> `{ end() }`: from now on no chooser opens; `end()` answers the field that one was wanted for, or null.
// Depends on: pageWorld.
"use strict";

foxloop.define("choosers", ({ pageWorld }) => {
  const page = window.wrappedJSObject;
  const isFileField = (el) => el?.localName === "input" && el.type === "file";

  function catchNext() {
    let field = null;
    const take = (el) => {
      field ??= el;
    };

    const standFor = (native) =>
      function chooserFunction() {
        const el = XPCNativeWrapper(this);
        if (isFileField(el)) {
          take(el);
          return undefined;
        }
        return Reflect.apply(native, this, []);
      };

    const places = [
      [page.HTMLElement.prototype, "click"],
      [page.HTMLInputElement.prototype, "showPicker"],
    ];
    const restores = places.map(([holder, name]) => pageWorld.replace(holder, name, standFor(holder[name]), page));

    // A label's press reaches its field as a click of Firefox's own.
    const onClick = (event) => {
      const el = event.composedPath()[0];
      if (isFileField(el)) {
        take(el);
        event.preventDefault();
      }
    };
    addEventListener("click", onClick, true);

    return {
      end() {
        removeEventListener("click", onClick, true);
        restores.forEach((restore) => restore?.());
        return field;
      },
    };
  }

  return { catchNext };
});
