// happenings: tells a document what came of the act that runs in it, outside of it: its requests, the tabs it opened.
//
// Purpose: a content script sees neither. Only documents in which something was done lately are told, since all others do not ask.
// Parameters: browser, documents (documents.js), the platform's clock.
// Result: `{ listen(), lately(doc), begunIn(doc) }`; `lately(doc)`: something is being done in it; `begunIn(doc)`: of how many
// requests it was told since then.
//
// Requests are those that the page itself makes (fetch, XMLHttpRequest). The end of one is told where its beginning was.

const LATELY_MS = 5000;
const OWN = ["xmlhttprequest"];

export function createHappenings({ browser, documents, platform }) {
  const until = new Map(); // document id -> until when it is told
  const told = new Map(); // request id -> the document
  const begun = new Map(); // document id -> how many

  function lately(doc) {
    until.set(doc.document, platform.now() + LATELY_MS);
  }

  const begunIn = (doc) => begun.get(doc.document) ?? 0;

  function isListening(doc) {
    if ((until.get(doc.document) ?? 0) > platform.now()) {
      return true;
    }
    until.delete(doc.document);
    begun.delete(doc.document);
    return false;
  }

  function began({ requestId, tabId, frameId }) {
    for (const doc of documents.all()) {
      if (doc.tab === tabId && doc.frameId === frameId && isListening(doc)) {
        told.set(requestId, doc);
        begun.set(doc.document, begunIn(doc) + 1);
        documents.tell(doc, { happened: { began: requestId } });
      }
    }
  }

  function ended({ requestId }) {
    const doc = told.get(requestId);
    if (doc !== undefined) {
      told.delete(requestId);
      documents.tell(doc, { happened: { ended: requestId } });
    }
  }

  // A tab in a window of its own has no opener to be known by, so it is the navigation that is listened to.
  function opened({ tabId, sourceTabId }) {
    for (const doc of documents.all()) {
      if (doc.tab === sourceTabId && isListening(doc)) {
        documents.tell(doc, { happened: { tab: tabId } });
        documents.noteOpened(doc, tabId); // it may go away before it tells
      }
    }
  }

  function listen() {
    const filter = { urls: ["<all_urls>"], types: OWN };
    browser.webRequest.onBeforeRequest.addListener(began, filter);
    browser.webRequest.onCompleted.addListener(ended, filter);
    browser.webRequest.onErrorOccurred.addListener(ended, filter);
    browser.webNavigation.onCreatedNavigationTarget.addListener(opened);
  }

  return { listen, lately, begunIn };
}
