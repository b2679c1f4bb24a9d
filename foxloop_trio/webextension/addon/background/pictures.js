// pictures: the method `tab.capture`: a picture of the viewport, of the whole page or of one element.
//
// Purpose: let Firefox draw it (also of a tab in the background), and paint over what must not be seen, on the picture: the page
// itself is never changed. Secrets are looked for before and after it was drawn, and painted over in both places.
// Parameters: tabs (tabs.js), frames (frames.js).
// Result: `{ capture(params, call) }`, a handler for the router.

import { Fault } from "./faults.js";
import { overlap } from "./frames.js";

const MOST_BYTES = 2 * 2 ** 20; // of the decoded picture; page reference 21.16
const MOST_PIXELS = 40_000_000;
const MOST_SIDE = 16_000; // pixels; Firefox's canvases are not much larger
const SMALLEST_SCALE = 0.05;
const SMALLER = 0.7; // by this the picture shrinks until it fits
const MARGIN = 2; // px painted around a secret
const MARK_FONT = 11; // px

export function createPictures({ tabs, frames }) {
  async function look(params, call) {
    const { marks, area } = params;
    const wanted = (doc) => (Array.isArray(marks) ? marks.filter((mark) => mark.frame === doc.frame).map((mark) => mark.node) : []);
    const question = (doc) => ({
      op: "spots",
      options: {
        nodes: wanted(doc),
        controls: marks === "controls",
        node: area?.document === doc.document && area.frame === doc.frame ? area.node : undefined,
      },
    });
    const { found } = await frames.join(params.tab, call, question);
    if (found.length === 0) {
      throw new Fault("no-document", `tab ${params.tab} shows nothing (yet)`);
    }
    return found;
  }

  // Everything below is in CSS px of the page: of the top viewport, and how far that is scrolled.
  function onPage({ origin, clip }, { scroll }, [left, top, width, height], clipped) {
    const box = [left + origin[0], top + origin[1], width, height];
    const [x, y, w, h] = clipped && clip !== null ? overlap(clip, box) : box;
    return [x + scroll.x, y + scroll.y, w, h];
  }

  function areaOf({ area }, found) {
    const top = found[0].reply;
    const { scroll, view, page } = top;
    if (area === "page") {
      return [0, 0, Math.max(page.width, view.width), Math.max(page.height, view.height)];
    }
    if (area === undefined || area === "viewport") {
      return [scroll.x, scroll.y, view.width, view.height];
    }
    const frame = found.find(({ reply }) => reply.element !== null);
    if (frame === undefined) {
      throw new Fault(
        "document-gone",
        `element ${area.node} of frame ${area.frame} is not in the page any more, or cannot be seen`,
      );
    }
    return onPage(frame, top, frame.reply.element, true);
  }

  // What fits on a picture: `{ rect, scale, cut }`.
  function fit([left, top, width, height], wanted) {
    const x = Math.max(0, Math.floor(left));
    const y = Math.max(0, Math.floor(top));
    const rect = { x, y, width: Math.ceil(width), height: Math.ceil(height) };
    let scale = wanted;
    const pixels = () => rect.width * rect.height * scale * scale;
    while (scale > Math.max(SMALLEST_SCALE, wanted / 4) && (pixels() > MOST_PIXELS || rect.height * scale > MOST_SIDE)) {
      scale *= SMALLER;
    }
    const most = Math.floor(Math.min(MOST_SIDE / scale, MOST_PIXELS / (rect.width * scale * scale)));
    const cut = rect.height > most;
    rect.height = Math.min(rect.height, most);
    return { rect, scale: Math.max(SMALLEST_SCALE, scale), cut };
  }

  async function capture(params, call) {
    const before = await look(params, call);
    const area = areaOf(params, before);
    if (area[2] < 1 || area[3] < 1) {
      throw new Fault("document-gone", "nothing of that element can be seen");
    }
    const { rect, scale, cut } = fit(area, params.scale ?? 1);
    call.signal.throwIfAborted();
    const address = await tabs.picture(params.tab, { format: "png", rect, scale });
    const after = await look(params, call);
    const secrets = [before, after].flatMap((found) =>
      found.flatMap((frame) => frame.reply.secrets.map((box) => onPage(frame, found[0].reply, box, true))),
    );
    const marks = marksOf(params, after);
    call.signal.throwIfAborted();
    return finish(params, { address, rect, scale, cut, secrets, marks });
  }

  function marksOf({ marks }, found) {
    const labels = new Map(Array.isArray(marks) ? marks.map(({ frame, node, label }) => [`${frame}:${node}`, label]) : []);
    return found.flatMap((frame) =>
      frame.reply.marks.map(({ node, box }) => {
        const id = `${frame.doc.frame}:${node}`;
        return { id, label: labels.get(id) ?? id, box: onPage(frame, found[0].reply, box, true) };
      }),
    );
  }

  async function finish({ format, quality }, { address, rect, scale, cut, secrets, marks }) {
    const bitmap = await createImageBitmap(new Blob([bytesOf(address)], { type: "image/png" }));
    const real = bitmap.width / rect.width; // rounded by Firefox
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const place = ([left, top, width, height]) => [(left - rect.x) * real, (top - rect.y) * real, width * real, height * real];
    const inside = ([left, top, width, height]) =>
      width > 0 && height > 0 && left + width > 0 && top + height > 0 && left < canvas.width && top < canvas.height;
    const painted = new Set(secrets.map(place).filter(inside).map(String));
    for (const box of painted) {
      paintOver(context, box.split(",").map(Number));
    }
    const drawn = marks.filter(({ box }) => inside(place(box)));
    drawn.forEach(({ label, box }) => drawMark(context, label, place(box)));
    const { data, shrunk } = await encode(canvas, format, quality);
    const shown = {
      width: Math.max(1, Math.round(canvas.width * shrunk)),
      height: Math.max(1, Math.round(canvas.height * shrunk)),
    };
    return { data, ...shown, scale: scale * shrunk, painted_over: painted.size, marked: drawn.map(({ id }) => id), cut };
  }

  function paintOver(context, [left, top, width, height]) {
    context.fillStyle = "#777777";
    context.fillRect(left - MARGIN, top - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN);
  }

  function drawMark(context, label, [left, top, width, height]) {
    context.lineWidth = 2;
    context.strokeStyle = "#e6007a";
    context.strokeRect(left, top, width, height);
    context.font = `bold ${MARK_FONT}px sans-serif`;
    const wide = context.measureText(label).width + 4;
    const y = top >= MARK_FONT + 3 ? top - MARK_FONT - 3 : top;
    context.fillStyle = "#e6007a";
    context.fillRect(left, y, wide, MARK_FONT + 3);
    context.fillStyle = "#ffffff";
    context.fillText(label, left + 2, y + MARK_FONT);
  }

  // Shrinks until it fits.
  async function encode(canvas, format, quality) {
    const options = { type: `image/${format}`, ...(quality === undefined ? {} : { quality: quality / 100 }) };
    let shrunk = 1;
    let current = canvas;
    for (;;) {
      const blob = await current.convertToBlob(options);
      if (blob.size <= MOST_BYTES || current.width < 16 || current.height < 16) {
        return { data: base64(new Uint8Array(await blob.arrayBuffer())), shrunk };
      }
      shrunk *= Math.min(SMALLER, Math.sqrt(MOST_BYTES / blob.size)); // bytes go with the area
      const next = new OffscreenCanvas(
        Math.max(1, Math.round(canvas.width * shrunk)),
        Math.max(1, Math.round(canvas.height * shrunk)),
      );
      next.getContext("2d").drawImage(canvas, 0, 0, next.width, next.height);
      current = next;
    }
  }

  return { capture };
}

function bytesOf(address) {
  return Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
}

const CHUNK = 8192; // arguments of one call

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(text);
}
