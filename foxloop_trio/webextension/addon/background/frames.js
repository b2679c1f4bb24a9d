// frames: asks all documents of a tab the same thing, and knows how they lie in each other.
//
// Purpose: only a document knows which frames stand in it, whether they can be seen and where; so the top one is asked first,
// and then, level by level, what stands in it. What nobody can see is not asked.
// Parameters: documents (documents.js), tabs (tabs.js), the platform's timers.
// Result: `{ join(tab, call, question) }`. `question(doc, asked)` -> the message for that document, `asked` being how many were
// asked before. Answers `{ found, unreadable }`: `found`, in the order of the page, a list of `{ doc, parent, origin, clip,
// reply }`: `parent` is the frame number of the document around it, `origin` where its content begins in the top viewport,
// `clip` the part of that viewport in which it can be seen; `unreadable` as the wire has it. Each reply is an object with
// `frames`, as content/frame_list.js tells them; a document without a body answers null.

import { answer, within } from "./answers.js";
import { Fault } from "./faults.js";

const MOST_FRAMES = 64; // documents asked in one call; the rest is counted
const MOST_UNREADABLE = 90; // that are named; the rest is counted
const FRAME_MS = 2000; // a frame may take so long; the rest of the page need not wait for it
const RESERVE_MS = 300;

const KEPT_OUT = "Firefox keeps extensions out of it, or it did not load";
const SILENT = "it did not answer in time";
const NOT_NAMED = `more than ${MOST_UNREADABLE} that could not be read`;
const NO_BODY = "the document has no body (yet)";
const TOO_MANY = `more than ${MOST_FRAMES} frames: read one of the others by its frame number, or a part of the page`;

export function createFrames({ documents, tabs, platform }) {
  async function join(tab, call, question) {
    const top = documents.top(tab);
    if (top === null) {
      throw await tabs.unreadable(tab);
    }
    const first = await answer(documents.ask(top, question(top, 0)), call);
    if (first.gone) {
      throw new Fault("document-gone", "the document went away while it was read");
    }
    const state = { tab, call, question, asked: 1, unread: 0, unreadable: [] };
    if (first.json === null) {
      return { found: [], unreadable: [{ url: top.url, reason: NO_BODY, frame: 0 }] };
    }
    const root = { doc: top, parent: null, origin: [0, 0], clip: null, reply: first.json, children: [] };
    for (let level = [root]; level.length > 0;) {
      level = (await Promise.all(level.map((node) => descend(node, state)))).flat();
    }
    const counted = [
      { url: "", reason: TOO_MANY, count: state.unread },
      { url: "", reason: NOT_NAMED, count: state.unreadable.length - MOST_UNREADABLE },
    ].filter((entry) => entry.count > 0);
    return { found: inOrder(root), unreadable: [...state.unreadable.slice(0, MOST_UNREADABLE), ...counted] };
  }

  // Asks the frames that stand in a document, all at once; in the order in which they stand there.
  async function descend(node, state) {
    const asking = [];
    for (const frame of node.reply.frames.filter((one) => one.seen)) {
      const doc = documents.inFrame(state.tab, frame.id);
      if (doc === null) {
        miss(state, frame, KEPT_OUT);
      } else if (state.asked >= MOST_FRAMES) {
        state.unread += 1;
      } else {
        asking.push(ask(node, frame, doc, state));
        state.asked += 1;
      }
    }
    node.children = (await Promise.all(asking)).filter((child) => child !== null);
    return node.children;
  }

  async function ask(node, frame, doc, state) {
    const { call, question } = state;
    const ms = Math.max(0, Math.min(FRAME_MS, call.left() - RESERVE_MS));
    const reply = await within(documents.ask(doc, question(doc, state.asked)), call, ms, platform);
    if (reply === null || reply.gone || reply.json === null) {
      miss(state, frame, reply === null ? SILENT : reply.gone ? KEPT_OUT : NO_BODY, doc.frame);
      return null;
    }
    const [left, top] = [node.origin[0] + frame.left, node.origin[1] + frame.top];
    const place = { parent: node.doc.frame, origin: [left, top] };
    Object.assign(doc, place); // a later read of this frame alone needs to know
    return { doc, ...place, clip: overlap(node.clip, [left, top, frame.width, frame.height]), reply: reply.json, children: [] };
  }

  function miss(state, { url }, reason, frame) {
    state.unreadable.push(frame === undefined ? { url, reason } : { url, reason, frame });
  }

  return { join };
}

function inOrder(node) {
  return [node, ...node.children.flatMap(inOrder)];
}

export function overlap(a, b) {
  if (a === null) {
    return b;
  }
  const [left, top] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
  const [right, bottom] = [Math.min(a[0] + a[2], b[0] + b[2]), Math.min(a[1] + a[3], b[1] + b[3])];
  return [left, top, Math.max(0, right - left), Math.max(0, bottom - top)];
}
