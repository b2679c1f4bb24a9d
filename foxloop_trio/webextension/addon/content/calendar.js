// calendar: which month the bare number of a day belongs to.
//
// Purpose: the cells of most date pickers say "3" and no more; a person reads the month above them. `monthOf(el, turn)`: month and
// year as the calendar around that day shows them, such as "March 2026": in a heading, a live region, a caption or selects; "" for
// whatever is no bare day, or where the calendar shows none or several.
// Depends on: dom, tree, words.
"use strict";

foxloop.define("calendar", ({ dom, tree, words }) => {
  const CLIMB = 8;
  const MOST_TITLES = 30; // of one box; what has more of them is no calendar
  const MOST_CHILDREN = 3;
  const TITLES = [
    "caption, h1, h2, h3, h4, h5, h6, legend, select, [role=heading], [aria-live], th[colspan]",
    ...["month", "year", "title", "caption", "header"].map((word) => `[class*="${word}" i]`),
  ].join(", ");
  const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl"];
  const LONGEST = 60; // UTF-16 units; a title is not longer
  const YEAR = /(?<!\d)(?:19|20|21)\d\d(?!\d)/gu;

  let months = null;

  function monthNames() {
    if (months === null) {
      const found = new Set();
      for (const language of [document.documentElement.lang, ...LANGUAGES]) {
        for (const month of ["long", "short"]) {
          try {
            const format = new Intl.DateTimeFormat(language === "" ? "en" : language, { month, timeZone: "UTC" });
            for (let at = 0; at < 12; at += 1) {
              found.add(format.format(Date.UTC(2026, at, 1)).replace(/\.$/, "").toLowerCase());
            }
          } catch {
            break; // the page names a language that is none
          }
        }
      }
      const all = Array.from(found, (name) => name.replace(/[^\p{L}\p{N}]/gu, "\\$&")).sort((a, b) => b.length - a.length);
      months = new RegExp(`(?<![\\p{L}\\p{N}])(?:${all.join("|")})(?![\\p{L}\\p{N}])`, "giu");
    }
    return months;
  }

  function shownIn(el, turn) {
    if (!turn.seen(el)) {
      return "";
    }
    const text = el.localName === "select" ? (el.selectedOptions[0]?.label ?? "") : el.textContent;
    return text.length > LONGEST ? "" : words.clean(text);
  }

  // Month and year that stand in a box; null where there are several.
  function titleOf(box, turn) {
    const memo = turn.memo("calendars");
    let title = memo.get(box);
    if (title === undefined) {
      const titles = box.querySelectorAll(TITLES);
      const texts = titles.length > MOST_TITLES ? [] : Array.from(titles, (el) => shownIn(el, turn));
      const named = new Map(texts.flatMap((text) => text.match(monthNames()) ?? []).map((name) => [name.toLowerCase(), name]));
      const years = new Set(texts.flatMap((text) => text.match(YEAR) ?? []));
      const several = named.size > 1 || years.size > 1;
      title = several ? null : named.size === 1 && years.size === 1 ? `${[...named.values()][0]} ${[...years][0]}` : "";
      memo.set(box, title);
    }
    return title;
  }

  // Most controls are none, and done with at their first node.
  function isBareDay(el) {
    let children = 0;
    for (let child = dom.first(el); child !== null; child = dom.next(child)) {
      children += 1;
      if (children > MOST_CHILDREN || (dom.kind(child) === tree.TEXT && !/^[\s\d]*$/.test(dom.data(child)))) {
        return false;
      }
    }
    return children > 0 && /^\s*\d{1,2}\s*$/.test(el.textContent);
  }

  function monthOf(el, turn) {
    if (!isBareDay(el)) {
      return "";
    }
    let box = tree.parent(el);
    for (let climbed = 0; climbed < CLIMB && box !== null && box !== document.body; climbed += 1) {
      const title = titleOf(box, turn);
      if (title !== "") {
        return title ?? "";
      }
      box = tree.parent(box);
    }
    return "";
  }

  return { monthOf };
});
