// reading: the method `page.read`: all frames of a tab, one of them, or a part of one.
//
// Purpose: translate params into what a document is asked, and put together what the documents answered. Their JSON is passed on
// unread; only text is cut here, since no frame knows how much the others have.
// Parameters: documents (documents.js), tabs (tabs.js), frames (frames.js).
// Result: `{ read(params, call) }`, a handler for the router.

import { answer } from "./answers.js";
import { Fault } from "./faults.js";
import { verbatim } from "./router.js";

const TEXT_AT_FIRST = 6000; // page reference 2.10 and 21.9: of all frames together
const ROOM = 1_000_000; // of an answer's bytes, left for what surrounds the frames
const MOST_BYTES = 16 * 2 ** 20;

export function createReading({ documents, tabs, frames }) {
  function optionsOf(params) {
    return {
      focus: params.focus,
      find: params.find,
      offset: params.offset,
      textOffset: params.text_offset,
      maxControls: params.max_controls,
      maxText: params.max_text ?? TEXT_AT_FIRST,
      node: params.region?.node,
    };
  }

  async function read(params, call) {
    const options = optionsOf(params);
    if (params.region !== undefined || params.frame !== undefined) {
      return readOne(params, options, call);
    }
    const { found, unreadable } = await frames.join(params.tab, call, () => ({ op: "read", options }));
    return assemble(found, unreadable, options.maxText);
  }

  async function readOne(params, options, call) {
    const { tab, region, frame } = params;
    if (documents.top(tab) === null) {
      throw await tabs.unreadable(tab);
    }
    if (region !== undefined && frame !== undefined && region.frame !== frame) {
      throw new Fault("invalid-params", "params.region: it lies in another frame than params.frame");
    }
    const doc = region === undefined ? documents.byAlias(tab, frame) : documents.find({ tab, ...region });
    if (doc === null) {
      throw new Fault("document-gone", `there is no such frame ${region?.frame ?? frame} in tab ${tab} any more`);
    }
    const reply = await answer(documents.ask(doc, { op: "read", options }), call);
    if (reply.gone) {
      throw new Fault("document-gone", "the document went away while it was read");
    }
    if (reply.json === null) {
      if (region !== undefined) {
        throw new Fault("document-gone", `element ${region.node} is not in the document any more`);
      }
      return { frames: [], unreadable: [{ url: doc.url, reason: "the document has no body (yet)", frame: doc.frame }] };
    }
    const { parent, origin } = doc.frameId === 0 ? { parent: null, origin: [0, 0] } : doc;
    return assemble([{ doc, parent, origin, reply: reply.json }], [], options.maxText);
  }

  // The top frame's text first; what is left of the allowance goes to the others in their order.
  function assemble(found, unreadable, mostText) {
    let room = mostText;
    let bytes = 0;
    const parts = [];
    const missed = [...unreadable];
    for (const { doc, parent, origin, reply } of found) {
      const text = cut(reply.text, room);
      room -= text.length;
      const known = {
        frame: doc.frame,
        parent: parent ?? null,
        ...(origin === undefined ? {} : { origin }),
        text,
        text_truncated: reply.left + reply.text.length - text.length,
        total_text: reply.total,
      };
      const json = `${JSON.stringify(known).slice(0, -1)},${reply.json.slice(1)}`;
      bytes += json.length;
      if (parts.length > 0 && bytes > MOST_BYTES / 3 - ROOM) {
        missed.push({ url: doc.url, reason: "the answer would be too large: read this frame alone", frame: doc.frame });
      } else {
        parts.push(json);
      }
    }
    return verbatim(`{"frames":[${parts.join(",")}],"unreadable":${JSON.stringify(missed)}}`);
  }

  return { read };
}

function cut(text, most) {
  if (text.length <= most) {
    return text;
  }
  const last = most > 0 ? text.charCodeAt(most - 1) : 0;
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
