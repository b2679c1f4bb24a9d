// captcha: does this page ask whether a person is there?
//
// `look(turn, page)`, page being `{ title, text, controls }` -> `{ captcha, captcha_passive }`. `captcha`: a challenge that can be
// seen and is not solved yet, or words of a challenge on a page with little else. `captcha_passive`: an invisible badge, a solved
// challenge or one out of sight: it stands in nobody's way. An article about captchas is neither.
// Depends on: dom.
"use strict";

foxloop.define("captcha", ({ dom }) => {
  const WIDGETS = [
    'iframe:is([src*="recaptcha" i], [src*="hcaptcha" i], [src*="challenges.cloudflare.com" i])',
    ".g-recaptcha",
    ".h-captcha",
    ".cf-turnstile",
    "[data-captcha]",
  ].join(", ");
  const BADGES = '.grecaptcha-badge, [data-size="invisible"], iframe[src*="size=invisible"]';
  const ANSWERS = '[name$="captcha-response"], [name="cf-turnstile-response"]';
  const SMALLEST_PX = 40;
  const FEW_CONTROLS = 10;
  const WORDS =
    /(?<![\p{L}\p{N}])(?:are you a robot|captcha|i['’]?m not a robot|verify (?:that )?(?:you are )?(?:a )?human)(?![\p{L}\p{N}])/iu;

  function isChallenge(el, turn) {
    const box = turn.boxOf(el);
    return box.width >= SMALLEST_PX && box.height >= SMALLEST_PX && turn.seen(el) && dom.closest(el, BADGES) === null;
  }

  function look(turn, { title, text, controls }) {
    const widgets = turn.all(WIDGETS);
    const solved = widgets.length > 0 && turn.all(ANSWERS).some((el) => Boolean(el.value));
    const challenged = !solved && widgets.some((el) => isChallenge(el, turn));
    const captcha = challenged || (controls < FEW_CONTROLS && WORDS.test(`${title}\n${text}`));
    return { captcha, captcha_passive: !captcha && (widgets.length > 0 || turn.all(BADGES.split(",")[0]).length > 0) };
  }

  return { look };
});
