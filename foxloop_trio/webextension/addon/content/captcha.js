// captcha: does this page ask whether a person is there?
//
// `present(sight, page)`, page being `{ title, text, controls }` -> boolean: a challenge that can be seen and is not solved yet, or
// words of a challenge on a page with little else. An invisible badge or an article about captchas is none.
// Depends on: sight, tree.
"use strict";

foxloop.define("captcha", ({ tree }) => {
  const WIDGETS = [
    ...["recaptcha", "hcaptcha", "challenges.cloudflare.com"].map((host) => `iframe[src*="${host}" i]`),
    ".g-recaptcha",
    ".h-captcha",
    ".cf-turnstile",
    "[data-captcha]",
  ].join(", ");
  const ANSWERS = '[name$="captcha-response"], [name="cf-turnstile-response"]';
  const SMALLEST_PX = 40;
  const FEW_CONTROLS = 10;
  const WORDS =
    /(?<![\p{L}\p{N}])(?:are you a robot|captcha|i['’]?m not a robot|verify (?:that )?(?:you are )?(?:a )?human)(?![\p{L}\p{N}])/iu;

  function widgetSeen(sight) {
    return Array.from(tree.all(WIDGETS)).some((el) => {
      const box = el.getBoundingClientRect();
      return box.width >= SMALLEST_PX && box.height >= SMALLEST_PX && sight.seen(el);
    });
  }

  const solved = () => Array.from(tree.all(ANSWERS)).some((el) => el.value);

  function present(sight, { title, text, controls }) {
    return (widgetSeen(sight) && !solved()) || (controls < FEW_CONTROLS && WORDS.test(`${title}\n${text}`));
  }

  return { present };
});
