// connection: one websocket to the runtime, found, opened, proven and, when it is lost, opened again.
//
// Purpose: turn "somebody may listen at this address" into `onLive(link)`, `onText(text)` and `onDown()`.
// Parameters: the address, `makeHello` (see hello.js), the three callbacks, and the platform's WebSocket, fetch and timers.
// Result: `{ wake, state }`. `wake` tries at once if nothing is open or being opened. `link.send(text)` answers false when the text
// is larger than the runtime takes or the link is down; nothing is sent then.
//
// Firefox delays websocket opens to an address after failed ones (7 s were measured), but not fetches. So each try asks by fetch
// first, and opens the socket only when something answers.

const PROBE_EVERY_MS = 1000;
const PROBE_LIMIT_MS = 3000;
const HELLO_LIMIT_MS = 5000; // the runtime gives a peer as long
const REFUSED_FIRST_MS = 1000; // doubled at each refusal: a wrong token is not cured by asking often
const REFUSED_MOST_MS = 30_000;
const EARLY_MESSAGES = 64; // messages that may wait while the runtime's proof is being checked

export function createConnection({ url, makeHello, onLive, onText, onDown, platform }) {
  const { WebSocket, fetch, setTimeout, clearTimeout } = platform;
  let state = "idle"; // idle, probing, greeting, live
  let timer = null;
  let refusals = 0;

  function later(ms) {
    clearTimeout(timer);
    timer = setTimeout(wake, ms);
  }

  async function wake() {
    clearTimeout(timer);
    if (state !== "idle") {
      return;
    }
    state = "probing";
    try {
      await fetch(url.replace(/^ws/, "http"), { mode: "no-cors", cache: "no-store", signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    } catch {
      state = "idle";
      later(PROBE_EVERY_MS);
      return;
    }
    open();
  }

  function open() {
    state = "greeting";
    const socket = new WebSocket(url);
    const hello = makeHello();
    const inbox = [];
    let step = "challenge"; // challenge, proof, live
    let pumping = false;
    const limit = setTimeout(() => socket.close(), HELLO_LIMIT_MS);

    const link = {
      maxMessageBytes: 0,
      send(text) {
        if (socket.readyState !== WebSocket.OPEN || !fits(text, link.maxMessageBytes)) {
          return false;
        }
        socket.send(text);
        return true;
      },
    };

    async function take(text) {
      if (step === "challenge") {
        socket.send(await hello.answer(text));
        step = "proof";
      } else if (step === "proof") {
        const welcome = await hello.verify(text);
        clearTimeout(limit);
        link.maxMessageBytes = welcome.maxMessageBytes;
        step = "live";
        state = "live";
        refusals = 0;
        onLive(link);
      } else {
        onText(text);
      }
    }

    // Checking a proof takes a turn or two of the event loop; what arrives meanwhile waits, in order.
    async function pump() {
      if (pumping) {
        return;
      }
      pumping = true;
      try {
        while (inbox.length > 0) {
          await take(inbox.shift());
        }
      } catch (fault) {
        console.warn(String(fault));
        inbox.length = 0;
        socket.close();
      }
      pumping = false;
    }

    socket.onmessage = ({ data }) => {
      if (step === "live" && inbox.length === 0 && !pumping) {
        onText(data);
        return;
      }
      inbox.push(data);
      if (inbox.length > EARLY_MESSAGES) {
        socket.close();
        return;
      }
      pump();
    };

    socket.onclose = () => {
      clearTimeout(limit);
      inbox.length = 0;
      const wasLive = step === "live";
      step = "closed";
      state = "idle";
      if (wasLive) {
        later(0);
        onDown();
      } else {
        later(Math.min(REFUSED_FIRST_MS * 2 ** refusals, REFUSED_MOST_MS));
        refusals += 1;
      }
    };
  }

  return { wake, state: () => state };
}

function fits(text, maxBytes) {
  // A UTF-16 unit is at most three bytes of UTF-8; only a text near the limit has to be counted.
  return text.length * 3 <= maxBytes || new TextEncoder().encode(text).length <= maxBytes;
}
