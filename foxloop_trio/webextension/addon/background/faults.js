// faults: errors that cross the wire on purpose.
//
// `code` is one of `errors.codes` or `errors.numbers` of shared/protocol.json; the message is in our own words, never a page's.

export class Fault extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}
