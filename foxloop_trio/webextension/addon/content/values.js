// values: what a control holds and in what state it is. Secrets never leave this file.
//
// `isSecret(el, label)`, `isSensitive(el, label)`. `valueOf(el, masked)`: what is shown of its value, a mask in place of a secret.
// `filesOf(el)`: names of the files it holds. `stateOf(el)`: true, false, "mixed", or undefined for what has no state. `isOn(el)`,
// `isDisabled(el)`, `isReadOnly(el)`, `isRequired(el)`, `isSubmit(el)`, `expandedOf(el)`, `optionsOf(el)`, `chosenOf(el)`,
// `assistsOf(el, role)`, `dateFormatOf(el, label)`.
// Depends on: dom, limits, pickers, roles, tree, words.
"use strict";

foxloop.define("values", ({ dom, limits, pickers, roles, tree, words }) => {
  const MASK = "•••";
  const SECRET_TOKENS = new Set(["current-password", "new-password", "one-time-code", "cc-number", "cc-csc"]);
  // "labelled as password, passphrase, PIN, CVV/CVC/security code, one-time or verification code", and the same in German, French
  // and
  // Spanish.
  const SECRET_WORDS = [
    "pass ?words?|pass ?phrases?|pass ?codes?|pin(?:[ -]?(?:code|number))?|cvv2?|cvc2?|csc|cvn|(?:card )?security codes?",
    "one[ -]time(?: ?(?:code|password|pin))?|verification codes?|authentication codes?|otp|2fa code",
    "passwort|kennwort|prüfziffer|sicherheitscode|mot de passe|code de vérification|contraseña|código de verificación",
  ];
  const SECRET_LABEL = new RegExp(`(?<![\\p{L}\\p{N}])(?:${SECRET_WORDS.join("|")})(?![\\p{L}\\p{N}])`, "iu");
  // Filled when a goal names them, and masked wherever they are shown: what a card, an account, a person or a program is known by.
  const SENSITIVE_TOKENS = new Set([
    "cc-exp",
    "cc-exp-month",
    "cc-exp-year",
    "cc-name",
    "cc-given-name",
    "cc-family-name",
    "cc-type",
  ]);
  const SENSITIVE_WORDS = [
    "card ?holder|name on (?:the )?card|(?:card )?(?:expiry|expiration)(?: date| month| year)?|exp(?:iry)? date",
    "valid (?:thru|until)|iban|bic|swift code|account (?:number|no)|sort code|routing number|credit card number|card number",
    "social security(?: number)?|ssn|national (?:id|insurance)(?: number)?|tax (?:id|number)|passport(?: number| no)?",
    "id card number|api[ -]?(?:key|token|secret)|access (?:key|token)|secret key|client secret|bearer token",
    "auth(?:entication)? token|private key|kontonummer|bankleitzahl|steuer-?(?:id|nummer)|reisepass(?:nummer)?",
    "karteninhaber|gültig bis|num[ée]ro de compte|n[ºo°] de compte",
  ];
  const SENSITIVE_LABEL = new RegExp(`(?<![\\p{L}\\p{N}])(?:${SENSITIVE_WORDS.join("|")})(?![\\p{L}\\p{N}])`, "iu");
  const HOLDS_VALUE = new Set(["input", "textarea", "select"]);
  const wasPassword = new WeakSet();

  // "Show password" turns a password field into a text field. It stays a secret.
  // With the turn it is known whether the page draws dots at all.
  function isSecret(el, label, role = null, turn = null) {
    const tag = dom.tag(el);
    if (tag === "input" && dom.type(el) === "password") {
      wasPassword.add(el);
      return true;
    }
    if (wasPassword.has(el)) {
      return true;
    }
    if (!roles.typable(el, role ?? roles.roleOf(el))) {
      return false;
    }
    const dots = turn === null || turn.uses("dots");
    if (dots && HOLDS_VALUE.has(tag) && dom.value(el) !== "" && getComputedStyle(el).webkitTextSecurity !== "none") {
      return true; // the page itself draws dots
    }
    const tokens = (dom.attribute(el, "autocomplete") ?? "").toLowerCase().split(/\s+/);
    return (
      tokens.some((token) => SECRET_TOKENS.has(token)) ||
      SECRET_LABEL.test(label) ||
      SECRET_LABEL.test((dom.attribute(el, "placeholder") ?? "").slice(0, limits.name))
    );
  }

  function isSensitive(el, label, role = null) {
    if (el.localName !== "select" && !roles.typable(el, role ?? roles.roleOf(el))) {
      return false;
    }
    const tokens = (dom.attribute(el, "autocomplete") ?? "").toLowerCase().split(/\s+/);
    return (
      tokens.some((token) => SENSITIVE_TOKENS.has(token)) ||
      SENSITIVE_LABEL.test(label) ||
      SENSITIVE_LABEL.test((dom.attribute(el, "placeholder") ?? "").slice(0, limits.name))
    );
  }

  function plainValueOf(el) {
    if (HOLDS_VALUE.has(dom.tag(el))) {
      return dom.type(el) === "file" ? filesOf(el).join(", ") : dom.value(el);
    }
    if (roles.isEditable(el)) {
      return (el.innerText ?? "").trim();
    }
    return dom.attribute(el, "role") === "slider"
      ? (dom.attribute(el, "aria-valuetext") ?? dom.attribute(el, "aria-valuenow") ?? "")
      : "";
  }

  function valueOf(el, secret) {
    const value = plainValueOf(el);
    return secret && value !== "" ? MASK : value;
  }

  const filesOf = (el) => Array.from(el.files ?? [], (file) => file.name);

  const TOGGLES = new Set(["checkbox", "radio"]);
  const isToggle = (el) => dom.tag(el) === "input" && TOGGLES.has(dom.type(el));

  function stateOf(el) {
    if (isToggle(el)) {
      return el.checked;
    }
    for (const name of ["aria-checked", "aria-selected", "aria-pressed"]) {
      const value = dom.attribute(el, name);
      if (value !== null) {
        return value === "mixed" ? "mixed" : value === "true";
      }
    }
    return undefined;
  }

  function isOn(el) {
    return isToggle(el)
      ? el.checked
      : ["aria-checked", "aria-selected", "aria-pressed"].some((name) => dom.attribute(el, name) === "true");
  }

  function expandedOf(el) {
    const value = dom.attribute(el, "aria-expanded");
    return value === null ? undefined : value === "true";
  }

  const isDisabled = (el, turn = tree) => dom.matches(el, ":disabled") || turn.closest(el, '[aria-disabled="true"]') !== null;
  // To ask an element for a property that it has not is dear.
  const hasState = (el) => HOLDS_VALUE.has(el.localName);
  const isReadOnly = (el) => (hasState(el) && el.readOnly === true) || dom.attribute(el, "aria-readonly") === "true";
  const isRequired = (el) => (hasState(el) && el.required === true) || dom.attribute(el, "aria-required") === "true";

  const SENDS = new Set(["submit", "image"]);

  function isSubmit(el) {
    const tag = dom.tag(el);
    return (tag === "button" || tag === "input") && SENDS.has(dom.type(el)) && Boolean(dom.form(el));
  }

  const optionDisabled = (option) => option.disabled || dom.closest(option, "optgroup")?.disabled === true;
  const UNSHOWN = ":is(option, optgroup):is([hidden], [style*='display: none' i], [style*='display:none' i])";
  const MOST_STYLED = 100; // of longer lists only the markup is asked

  // What is chosen is shown on the closed list, whatever hides it in the open one.
  function optionUnshown(option, styled) {
    return (
      !option.selected &&
      (dom.closest(option, UNSHOWN) !== null ||
        (styled && getComputedStyle(dom.closest(option, "optgroup") ?? option).display === "none"))
    );
  }

  function optionsOf(el) {
    const all = Array.from(el.options);
    const styled = all.length <= MOST_STYLED;
    return all.filter((option) => !optionDisabled(option) && !optionUnshown(option, styled));
  }

  // Which options are chosen, by position: a guard must differ when another one is, even one with the same value.
  const chosenOf = (el) => (el.localName === "select" ? Array.from(el.selectedOptions, (option) => option.index).join(",") : "");

  const SUGGESTS = /(?:^|[\s_-])(?:auto-?complete|typeahead|awesomplete|tt-input|autosuggest)/i; // classes that libraries set

  function assistsOf(el, role) {
    if (!roles.typable(el, role)) {
      return { autocomplete: false, picker: false };
    }
    const attribute = (name) => dom.attribute(el, name);
    return {
      autocomplete:
        ["list", "both"].includes(attribute("aria-autocomplete")) ||
        attribute("role") === "combobox" ||
        Boolean(attribute("list")) ||
        SUGGESTS.test(attribute("class") ?? ""),
      picker: pickers.isMarked(el),
    };
  }

  const DATE_FORMAT = /(?<![\p{L}\p{N}])(DD|MM|YYYY)([./-])(DD|MM)\2(YYYY|DD)(?![\p{L}\p{N}])/u;

  // French writes jour and année, German Tag and Jahr.
  function dateFormatIn(text) {
    const english = text
      .toUpperCase()
      .replace(/JJJJ|AAAA/g, "YYYY")
      .replace(/JJ|TT/g, "DD");
    const found = DATE_FORMAT.exec(english);
    return found !== null && new Set([found[1], found[3], found[4]]).size === 3 ? found[0] : undefined;
  }

  function dateFormatOf(el, label) {
    if (el.localName === "input" && el.type === "date") {
      return "YYYY-MM-DD";
    }
    const texts = [dom.attribute(el, "placeholder"), dom.attribute(el, "data-format"), label];
    return texts
      .map((text) => dateFormatIn(words.clean((text ?? "").slice(0, limits.name))))
      .find((format) => format !== undefined);
  }

  return {
    MASK,
    isSecret,
    isSensitive,
    filesOf,
    plainValueOf,
    valueOf,
    isToggle,
    stateOf,
    isOn,
    expandedOf,
    isDisabled,
    isReadOnly,
    isRequired,
    isSubmit,
    optionsOf,
    chosenOf,
    assistsOf,
    dateFormatOf,
  };
});
