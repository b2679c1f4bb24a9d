// limits: how much of a page is told, and how long things may take here.
//
// Purpose: one place for the numbers. Those that the wire has too are equal to `limits` of shared/protocol.json (a test compares).
// Depends on: nothing.
"use strict";

foxloop.define("limits", () => ({
  addresses: 65_536,
  attribute: 1000,
  calls: 32,
  cell: 300,
  cells: 50,
  controls: 1000,
  description: 200,
  detail: 1000,
  dialogs: 50,
  files: 10,
  heading: 500,
  headings: 200,
  label: 200,
  look: 60,
  message: 2000,
  option: 500,
  options: 300,
  section: 70,
  text: 60_000,
  title: 1000,
  token: 100,
  value: 500,

  controlsAtFirst: 300, // controls of one frame, unless a read asks for more (page reference 2.11)
  dialogMessage: 500, // what of a script dialog's text is worth telling
  name: 10_000, // UTF-16 units of a name or another attribute that are looked at; what a page has beyond them is no name
  rowText: 2000, // UTF-16 units of a row that go into its digest
  smallestBox: 2, // CSS px; a box must be larger than this both ways to be seen
  textAtFirst: 6000, // UTF-16 units of text, unless a read asks for more (page reference 2.10)
}));
