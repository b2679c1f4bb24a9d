// holds: tabs that no page may take to another host.
//
// Purpose: what a page starts by itself (a link, `location=`, a form, a redirect, a refresh, a window that it opens) is stopped
// before it loads, when it leads to a host that nobody allowed.
// Parameters: browser, `shownBy(tab)` -> the address of what that tab shows, or null; notify; the limits of the protocol.
// Result: `{ handlers, here(doc), listen(), letThrough(tab, url) -> a function that ends it, isHeld(tab), adopt({ id,
// openerTabId }), delay(tab, ms), release(tab) }`.
//
// A held tab may load pages of the host that it is on, of the hosts that were named, and of the address that the runtime itself
// asked for, as long as it does. A tab that a held one opens is held too, by the host that its opener is on; when its first page is
// stopped, it is closed. So is one that the runtime opens to go on with the work of a held one. Only whole pages are held: what
// stands in a frame has a document, and a host, of its own.
//
// A page that Firefox kept for the back button comes without a request that could be stopped. It is left as soon as it is there,
// for the last page that was allowed, which takes its place in the tab's history. `here(doc)` tells of a document, which is a
// moment sooner than the tab's address.
//
// `delay(tab, ms)`: no page loads in that tab until `release(tab)`, or for so long. While Firefox's own input is on its way, what
// comes behind a press that leads away would land in the next document, where nobody has judged it. What began to load in a held
// tab is judged as held, whatever ends meanwhile. `release()`: nobody holds any tab any more; what is delayed stays so for its
// time, since such input comes over another line.

const HOLDS_MOST = 200;

export function createHolds({ browser, shownBy, notify, limits, platform }) {
  const { setTimeout, clearTimeout } = platform;
  const delayed = new Map(); // tab -> { over: a promise, end: what fulfils it }
  // tab -> { hosts: Set, through: Set of hosts, of: the held tab that opened it, or null, home: the host it is on, last: its last
  // allowed address, left: the address that it was taken away from }
  const held = new Map();
  const turnedAway = new Set(); // tabs that are being closed because no more can be held

  function hostOf(url) {
    const parsed = URL.canParse(url ?? "") ? new URL(url) : null;
    return parsed !== null && /^https?:$/.test(parsed.protocol) ? plain(parsed.hostname) : null;
  }

  // As the runtime has it: no brackets around an IPv6 address, no dot at the end.
  const plain = (host) => host.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");

  function isAllowed(hold, host) {
    return hold.hosts.has(host) || hold.through.has(host) || hold.home === host || homeOf(hold.of) === host;
  }

  const homeOf = (tab) => held.get(tab)?.home ?? hostOf(shownBy(tab));

  function judge(request) {
    const delay = delayed.get(request.tabId);
    if (delay === undefined) {
      return judgeNow(request);
    }
    const hold = held.get(request.tabId);
    return delay.over.then(() => (hold === undefined ? judgeNow(request) : decide(request.tabId, hold, request.url)));
  }

  function delay(tab, ms) {
    release(tab);
    let end;
    const over = new Promise((resolve) => {
      const timer = setTimeout(() => release(tab), ms);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    delayed.set(tab, { over, end });
  }

  function release(tab) {
    delayed.get(tab)?.end();
    delayed.delete(tab);
  }

  function judgeNow({ tabId, url }) {
    if (turnedAway.has(tabId)) {
      return { cancel: true };
    }
    const hold = held.get(tabId);
    if (hold !== undefined) {
      return decide(tabId, hold, url);
    }
    return held.size === 0 || tabId < 0 ? {} : judgeStranger(tabId, url);
  }

  // The request of a new tab can be heard before the tab itself.
  async function judgeStranger(tabId, url) {
    const tab = await browser.tabs.get(tabId).catch(() => null);
    if (tab !== null) {
      adopt(tab);
    }
    const hold = held.get(tabId);
    return hold === undefined ? { cancel: turnedAway.has(tabId) } : decide(tabId, hold, url);
  }

  function decide(tabId, hold, url) {
    const host = hostOf(url);
    if (host === null || isAllowed(hold, host)) {
      return {};
    }
    tellStopped(tabId, hold, url);
    if (hold.of !== null && hold.last === null) {
      browser.tabs.remove(tabId).catch(() => {}); // it shows nothing, and never will
    }
    return { cancel: true };
  }

  const tellStopped = (tabId, { of }, url) =>
    notify("tab.stopped", { tab: of ?? tabId, url: url.toWellFormed().slice(0, limits.addresses) });

  // What a held tab shows now. Answers whether it may.
  function seen(tabId, url) {
    const hold = held.get(tabId);
    const host = hostOf(url);
    if (hold === undefined || host === null) {
      return true;
    }
    if (isAllowed(hold, host)) {
      Object.assign(hold, { home: host, last: url, left: null });
      return true;
    }
    if (hold.left !== url) {
      hold.left = url;
      tellStopped(tabId, hold, url);
    }
    return false;
  }

  function leave(tabId) {
    const { of, last } = held.get(tabId);
    const left = of !== null && last === null ? browser.tabs.remove(tabId) : replace(tabId, last ?? "about:blank");
    left.catch(() => {}); // it was closed meanwhile
  }

  const replace = (tabId, url) => browser.tabs.update(tabId, { url, loadReplace: true });

  function here({ tab, frameId, url }) {
    if (frameId === 0 && !seen(tab, url)) {
      leave(tab);
    }
  }

  async function updated(tabId, { url }) {
    if (url === undefined || seen(tabId, url)) {
      return;
    }
    const now = await browser.tabs.get(tabId).catch(() => null); // it may be on its way back already
    if (now !== null && now.url === url && held.has(tabId)) {
      leave(tabId);
    }
  }

  function adopt({ id, openerTabId }) {
    const opener = held.get(openerTabId);
    if (opener === undefined || held.has(id)) {
      return;
    }
    if (held.size >= HOLDS_MOST) {
      turnedAway.add(id);
      browser.tabs.remove(id).catch(() => {}); // what cannot be held must not stay, nor load anything on its way out
    } else {
      held.set(id, made(opener.hosts, opener.of ?? openerTabId, null));
    }
  }

  const made = (hosts, of, url) => ({ hosts, through: new Set(), of, home: hostOf(url), last: hostOf(url) && url, left: null });

  function drop(tab) {
    held.delete(tab);
    for (const [id, { of }] of held) {
      if (of === tab) {
        held.delete(id);
      }
    }
  }

  async function hold({ tab, hosts }) {
    if (hosts === null) {
      drop(tab);
      return {};
    }
    const shown = shownBy(tab) ?? (await browser.tabs.get(tab).catch(() => null))?.url;
    held.set(tab, made(new Set(hosts.map(plain)), null, shown ?? null));
    return {};
  }

  // The runtime sends the tab to this address by itself.
  function letThrough(tab, url) {
    const hold = held.get(tab);
    const host = hostOf(url);
    hold?.through.add(host);
    return () => hold?.through.delete(host);
  }

  function listen() {
    const filter = { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] };
    browser.webRequest.onBeforeRequest.addListener(judge, filter, ["blocking"]);
    browser.tabs.onCreated.addListener(adopt);
    browser.webNavigation.onCreatedNavigationTarget.addListener(
      ({ tabId, sourceTabId }) => adopt({ id: tabId, openerTabId: sourceTabId }), // a tab in a window of its own names no opener
    );
    browser.tabs.onUpdated.addListener(updated, { properties: ["url"] });
    browser.tabs.onRemoved.addListener((id) => {
      held.delete(id); // those that it opened stay held
      turnedAway.delete(id);
    });
  }

  function letGo(tab) {
    if (tab === undefined) {
      held.clear();
    } else {
      release(tab);
    }
  }

  const isHeld = (tab) => held.has(tab);

  return { handlers: { "tab.hold": hold }, here, listen, letThrough, isHeld, adopt, delay, release: letGo };
}
