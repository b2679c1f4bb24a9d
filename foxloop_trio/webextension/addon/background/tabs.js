// tabs: the methods `tab.*`, and the notifications about tabs.
//
// Purpose: list, open, close, raise and send tabs to an address; say when one changed.
// Parameters: the WebExtension API `browser`, documents (documents.js), holds (holds.js), `notify`, the limits of the protocol, and
// the platform's timers and wall clock.
// Result: `{ handlers, get, unreadable, picture, here(doc), listen() }`.
//
// "Arrived" means: a document that began to load after we asked has said hello. The tab's address and status are not enough, since
// both may still be those of the page before. A page that reloads itself or goes back meanwhile stops the navigation that we asked
// for; the document that comes then is not ours.

import { Fault } from "./faults.js";

const GRACE_MS = 500; // between "loading is complete" and giving up on a hello: an error page never says it
const HELLO_MS = 10_000; // the same for a page that is known to have come: on a busy machine its hello can be seconds late
const BEGIN_MS = 5000; // for Firefox to begin with a load at all; a busy machine needs more than a moment
const NO_CALL = "0".repeat(32);
const NOWHERE_MS = 1000; // for Firefox to begin to go back or forward
const CAME_BY_ITSELF = new Set(["reload", "back_forward"]); // names of the Navigation Timing standard
const BORN_EARLY_MS = 20; // a document's time origin is rounded, and comes from another process's clock
const ADDRESS_WAIT_MS = 1000; // for the tab's address to follow its document
const ADDRESS_POLL_MS = 10;
const CHANGES_EVERY_MS = 20; // a page that rewrites its title in a loop is reported fifty times a second, not more
const BLANK = "about:blank";
const KEPT_OUT = [
  [/^about:reader/, "reader view; leave it, and the page itself can be read"],
  [/^about:blank$/, "an empty tab"],
  [/^about:/, "one of Firefox's own pages"],
  [/^view-source:/, "the source of a page; the page itself can be read"],
  [/^moz-extension:/, "a page of an add-on"],
  [/^(?:chrome|resource):/, "a part of Firefox"],
  [/^file:/, "a file of this computer; serve it over http to read it"],
  [/\.pdf(?:[?#]|$)/i, "a PDF in Firefox's viewer; download it to read it"],
  [/^https?:\/\/(?:[\w-]+\.)*(?:mozilla\.org|firefox\.com|mozilla\.com)\//, "a site of Mozilla's that is closed to add-ons"],
];

export function createTabs({ browser, documents, holds, notify, limits, platform }) {
  const { setTimeout, clearTimeout, wallNow } = platform;
  const waiters = new Set();
  const changed = new Set();
  const requests = new Map(); // tab -> { id, url, failed } of the newest request for a whole page
  let flushing = false;

  // On its way from one process to another a tab is blank for a moment, which is not what it shows.
  const onItsWay = (tab) => tab.status === "loading" && tab.url === BLANK;

  function describe(tab) {
    const url = (onItsWay(tab) ? documents.top(tab.id)?.url : null) ?? tab.url ?? "";
    return {
      tab: tab.id,
      url: url.toWellFormed().slice(0, limits.addresses),
      title: (tab.title ?? "").slice(0, limits.title).toWellFormed(),
      active: tab.active,
      status: tab.status === "loading" ? "loading" : "complete",
      window: tab.windowId,
      document: documents.top(tab.id)?.document ?? null,
    };
  }

  async function get(id) {
    try {
      return await browser.tabs.get(id);
    } catch {
      throw new Fault("no-tab", `there is no tab ${id}`);
    }
  }

  // Why a tab has no document to talk to.
  async function unreadable(id) {
    const tab = await get(id);
    // On its way from one page to the next a tab may show nothing for a moment, under the address of an empty one.
    if (tab.status === "loading" && (tab.url === BLANK || /^https?:/.test(tab.url ?? ""))) {
      return new Fault("no-document", `tab ${id} is still loading`);
    }
    const why = KEPT_OUT.find(([pattern]) => pattern.test(tab.url ?? ""))?.[1] ?? "an error page or a viewer of Firefox's own";
    return new Fault("restricted-page", `Firefox keeps extensions out of what tab ${id} shows: ${why}. Open a web page in it`);
  }

  const picture = (id, options) => browser.tabs.captureTab(id, options);

  function legal(url) {
    if (url === BLANK) {
      return url;
    }
    const parsed = URL.canParse(url) ? new URL(url) : null;
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
      throw new Fault("illegal-url", "only http and https addresses and about:blank can be opened");
    }
    return parsed.href;
  }

  // A page that keeps its process busy is left late: while it does not even answer, nothing has failed yet.
  async function answers(doc) {
    if (doc === null) {
      return true; // nobody is there
    }
    const question = documents.ask(doc, { op: "outcome", call: NO_CALL });
    const told = question.answer.then(
      ({ gone }) => gone !== true,
      () => true,
    );
    const late = new Promise((resolve) => setTimeout(() => resolve(false), GRACE_MS));
    const answered = await Promise.race([told, late]);
    question.forget();
    return answered;
  }

  // Whether the tab shows a page that an add-on may read, and that was fetched: all that is missing is its hello.
  function hasCome({ id, url }) {
    const request = requests.get(id);
    const isShown = request?.failed === false && request.url === withoutFragment(url ?? "");
    return isShown && !KEPT_OUT.some(([pattern]) => pattern.test(url));
  }

  // Resolves when a document born after `since` is there (or, for about:blank, when the tab shows it: no extension gets into that).
  function arrival(id, { url, since, call }) {
    return new Promise((resolve, reject) => {
      let timer = null;
      let began = false; // Firefox has said that it loads something
      const waiter = {
        tab: id,
        here(doc) {
          if (doc.born >= since - BORN_EARLY_MS && !CAME_BY_ITSELF.has(doc.came)) {
            end(resolve, doc);
          }
        },
        updated(change) {
          began ||= change?.status !== undefined;
          clearTimeout(timer);
          timer = setTimeout(look, url === BLANK ? 0 : GRACE_MS);
        },
        removed() {
          end(reject, new Fault("no-tab", `tab ${id} was closed`));
        },
      };
      const aborted = () => end(reject, call.signal.reason);

      function end(how, value) {
        clearTimeout(timer);
        waiters.delete(waiter);
        call.signal.removeEventListener("abort", aborted);
        how(value);
      }

      // A new tab is an empty one first, and says so.
      const notYet = (tab) => (!began || tab.url === BLANK) && wallNow() - since < BEGIN_MS;
      const mayStillCome = (tab) => documents.top(id) === null && hasCome(tab) && wallNow() - since < HELLO_MS;

      async function look() {
        const tab = await get(id).catch(() => null);
        if (!waiters.has(waiter) || tab === null || tab.status === "loading") {
          return;
        }
        if (url === BLANK && tab.url === BLANK) {
          end(resolve, null);
        } else if (url !== BLANK && (notYet(tab) || mayStillCome(tab) || !(await answers(documents.top(id))))) {
          timer = waiters.has(waiter) ? setTimeout(look, GRACE_MS) : null;
        } else if (url !== BLANK) {
          const words =
            "no page came that an extension may read: the address failed, or became a download, or is one of Firefox's own";
          end(reject, new Fault("navigation-failed", words));
        }
      }

      waiters.add(waiter);
      call.signal.addEventListener("abort", aborted);
      if (call.signal.aborted) {
        aborted();
      }
    });
  }

  // A document's hello can be quicker than Firefox's own note of the tab's new address and of its loading.
  async function arrived(id, doc, oldUrl) {
    const end = wallNow() + ADDRESS_WAIT_MS;
    let tab = await get(id);
    while (doc !== null && tab.url === oldUrl && tab.url !== doc.url && wallNow() < end) {
      await new Promise((resolve) => setTimeout(resolve, ADDRESS_POLL_MS));
      tab = await get(id);
    }
    return { tab: describe(tab) };
  }

  // Firefox notes a new fragment a moment after it was asked for.
  async function moved(id, oldUrl, newUrl) {
    const end = wallNow() + ADDRESS_WAIT_MS;
    let tab = await get(id);
    while (newUrl !== oldUrl && tab.url === oldUrl && wallNow() < end) {
      await new Promise((resolve) => setTimeout(resolve, ADDRESS_POLL_MS));
      tab = await get(id);
    }
    return { tab: describe(tab) };
  }

  async function list() {
    const tabs = await browser.tabs.query({});
    return { tabs: tabs.slice(0, limits.tabs).map(describe) };
  }

  // One that is to be held is an empty one first, since its page could lead away before we know its id.
  async function openHeld({ active, address, since, opener }, call) {
    const tab = await browser.tabs.create({ url: BLANK, active });
    holds.adopt({ id: tab.id, openerTabId: opener });
    const arrivedThere = holds.letThrough(tab.id, address);
    try {
      const arriving = arrival(tab.id, { url: address, since, call });
      arriving.catch(() => {}); // it may fail before it is awaited
      await update(tab.id, address);
      waiterFor(tab.id)?.updated();
      const there = await arrived(tab.id, await arriving, BLANK);
      call.signal.throwIfAborted();
      return there;
    } catch (fault) {
      await browser.tabs.remove(tab.id).catch(() => {}); // nobody was told its id
      throw fault.code === "no-tab" ? new Fault("navigation-failed", "it led to another host, where a held tab may not go") : fault;
    } finally {
      arrivedThere();
    }
  }

  async function open({ url, active, held_with: opener }, call) {
    const address = legal(url);
    const since = wallNow();
    if (address !== BLANK && opener !== undefined && holds.isHeld(opener)) {
      return openHeld({ active, address, since, opener }, call);
    }
    const tab = await browser.tabs.create({ url: address, active });
    try {
      // The document may have been quicker than the answer about its tab.
      let doc = documents.top(tab.id);
      if (doc === null && address !== BLANK) {
        const arriving = arrival(tab.id, { url: address, since, call });
        waiterFor(tab.id)?.updated();
        doc = await arriving;
      }
      const there = await arrived(tab.id, doc, BLANK);
      call.signal.throwIfAborted();
      return there;
    } catch (fault) {
      await browser.tabs.remove(tab.id).catch(() => {}); // nobody was told its id
      throw fault;
    }
  }

  function waiterFor(id) {
    return [...waiters].find((waiter) => waiter.tab === id);
  }

  async function goto({ tab: id, url }, call) {
    const address = legal(url);
    const before = await get(id);
    if (onlyFragmentDiffers(before.url, address)) {
      // No new document comes: the same one is shown from another place on.
      await browser.tabs.update(id, { url: address });
      return moved(id, before.url, address);
    }
    const arriving = arrival(id, { url: address, since: wallNow(), call });
    arriving.catch(() => {}); // it may fail before it is awaited
    const arrivedThere = holds.letThrough(id, address);
    try {
      await update(id, address);
      waiterFor(id)?.updated();
      return await arrived(id, await arriving, before.url);
    } finally {
      arrivedThere();
    }
  }

  async function update(id, url) {
    try {
      await browser.tabs.update(id, { url });
    } catch {
      throw new Fault("illegal-url", "Firefox does not let an extension open that address");
    }
  }

  // Back, forward, and the same again. A page kept for the back button comes as it was, another place of the same document comes
  // without a hello, and where there is nothing to go to nothing happens; so it is looked for.
  async function history({ tab: id, go }, call) {
    const before = await get(id);
    const was = documents.top(id);
    const began = wallNow();
    let stillSince = began;
    await { back: browser.tabs.goBack, forward: browser.tabs.goForward, reload: browser.tabs.reload }[go](id).catch(() => {});
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, ADDRESS_POLL_MS));
      call.signal.throwIfAborted();
      const tab = await get(id);
      const now = documents.top(id);
      if (now !== null && now !== was) {
        return arrived(id, now, before.url);
      }
      if (tab.status === "loading") {
        stillSince = wallNow();
      } else if (tab.url !== before.url && wallNow() - stillSince >= GRACE_MS) {
        return { tab: describe(tab) };
      } else if (tab.url === before.url && wallNow() - stillSince >= NOWHERE_MS) {
        throw new Fault("navigation-failed", `the tab did not go ${go}: there is nothing there, or the page was not left`);
      }
    }
  }

  async function close({ tab }) {
    await get(tab);
    await browser.tabs.remove(tab);
    return {};
  }

  async function activate({ tab: id }) {
    const tab = await get(id);
    await browser.tabs.update(id, { active: true });
    await browser.windows.update(tab.windowId, { focused: true });
    return {};
  }

  function announce(id) {
    changed.add(id);
    if (!flushing) {
      flushing = true;
      setTimeout(flush, CHANGES_EVERY_MS);
    }
  }

  async function flush() {
    const ids = [...changed];
    changed.clear();
    flushing = false;
    for (const id of ids) {
      const tab = await browser.tabs.get(id).catch(() => null);
      if (tab !== null && !(onItsWay(tab) && documents.top(id) === null)) {
        notify("tab.changed", { tab: describe(tab) });
      }
    }
  }

  function here(doc) {
    if (doc.frame === 0) {
      announce(doc.tab);
      for (const waiter of [...waiters].filter((each) => each.tab === doc.tab)) {
        waiter.here(doc);
      }
    }
  }

  function listen() {
    const pages = { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] };
    browser.webRequest.onBeforeRequest.addListener(({ tabId, requestId, url }) => {
      requests.set(tabId, { id: requestId, url: withoutFragment(url), failed: false }); // once more for each redirect
    }, pages);
    browser.webRequest.onErrorOccurred.addListener(({ tabId, requestId }) => {
      const request = requests.get(tabId);
      if (request?.id === requestId) {
        request.failed = true;
      }
    }, pages);
    browser.tabs.onCreated.addListener((tab) => announce(tab.id));
    browser.tabs.onUpdated.addListener((id, change) => {
      announce(id);
      for (const waiter of [...waiters].filter((each) => each.tab === id)) {
        waiter.updated(change);
      }
    });
    browser.tabs.onActivated.addListener(({ tabId, previousTabId }) => {
      announce(tabId);
      if (previousTabId !== undefined) {
        announce(previousTabId);
      }
    });
    browser.tabs.onRemoved.addListener((id) => {
      changed.delete(id);
      requests.delete(id);
      notify("tab.removed", { tab: id });
      for (const waiter of [...waiters].filter((each) => each.tab === id)) {
        waiter.removed();
      }
    });
  }

  const handlers = {
    "tab.list": list,
    "tab.get": async ({ tab }) => ({ tab: describe(await get(tab)) }),
    "tab.open": open,
    "tab.close": close,
    "tab.activate": activate,
    "tab.goto": goto,
    "tab.history": history,
  };
  return { handlers, get, unreadable, picture, here, listen };
}

const withoutFragment = (url) => url.split("#", 1)[0];

export function onlyFragmentDiffers(from, to) {
  return to.includes("#") && withoutFragment(to) === withoutFragment(from ?? "");
}
