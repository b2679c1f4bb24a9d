// identity: what this document is called, and the secret that its guards and keys are made with.
//
// Purpose: both live exactly as long as the document: they survive a lost socket and the back button, and die with the page.
// `document`: 32 hex digits. `digest(text)`: 64 bits keyed by the secret, 16 hex digits; it reveals nothing of the text.
// Depends on: siphash.
"use strict";

foxloop.define("identity", ({ siphash }) => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const secret = crypto.getRandomValues(new Uint32Array(4));
  return {
    document: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    digest: (text) => siphash.digest(secret, text),
  };
});
