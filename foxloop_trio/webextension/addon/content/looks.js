// looks: what a small box, a picture or a shape looks like, in a few words.
//
// `lookOf(el, turn)`: for example "red circle", "#3b88c3 blue box", "img:star.png"; "" when there is nothing to say.
// `pictureOf(el, turn)`: the file name of the picture that the element shows, without its folder; "" when it shows none.
// Depends on: dom, sight, words.
"use strict";

foxloop.define("looks", ({ dom, sight, words }) => {
  const PLAIN = new Map(
    Object.entries({
      black: "0,0,0",
      white: "255,255,255",
      red: "255,0,0",
      lime: "0,255,0",
      blue: "0,0,255",
      yellow: "255,255,0",
      cyan: "0,255,255",
      magenta: "255,0,255",
      gray: "128,128,128",
      silver: "192,192,192",
      maroon: "128,0,0",
      olive: "128,128,0",
      green: "0,128,0",
      purple: "128,0,128",
      teal: "0,128,128",
      navy: "0,0,128",
      orange: "255,165,0",
      pink: "255,192,203",
      brown: "165,42,42",
    }).map(([name, value]) => [value, name]),
  );
  // Where on the wheel of hues, in degrees, one name ends and the next begins.
  const HUES = [
    [15, "red"],
    [45, "orange"],
    [70, "yellow"],
    [165, "green"],
    [195, "cyan"],
    [255, "blue"],
    [290, "purple"],
    [335, "pink"],
    [361, "red"],
  ];

  function family([red, green, blue]) {
    const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
    const spread = most - least;
    if (spread < 24) {
      return most < 48 ? "black" : least > 230 ? "white" : "gray";
    }
    let hue;
    if (most === red) {
      hue = ((green - blue) / spread) % 6;
    } else if (most === green) {
      hue = (blue - red) / spread + 2;
    } else {
      hue = (red - green) / spread + 4;
    }
    const degrees = (hue * 60 + 360) % 360;
    return HUES.find(([end]) => degrees < end)[1];
  }

  // A plain colour by its name; any other by its number and the name of its family.
  function colourName(colour) {
    const found = sight.channels(colour);
    if (found === null || found[3] === 0) {
      return "";
    }
    const rgb = found.slice(0, 3).map(Math.round);
    const hex = rgb.map((part) => part.toString(16).padStart(2, "0")).join("");
    return PLAIN.get(rgb.join(",")) ?? `#${hex} ${family(rgb)}`;
  }

  function fileOf(address) {
    const path = address.split(/[?#]/, 1)[0];
    return path.startsWith("data:") ? "" : words.clean(path.slice(path.lastIndexOf("/") + 1));
  }

  function pictureOf(el, turn) {
    if (el.localName === "img" || (el.localName === "input" && el.type === "image")) {
      return fileOf(dom.attribute(el, "src") ?? "");
    }
    if (el.localName === "image" || el.localName === "use") {
      return fileOf(dom.attribute(el, "href") ?? "");
    }
    const { live } = turn.styleOf(el);
    const address = /url\("([^"]*)"\)/.exec(live.content) ?? /url\("([^"]*)"\)/.exec(live.backgroundImage);
    return address === null ? "" : fileOf(address[1]);
  }

  const KINDS = {
    circle: "circle",
    ellipse: "ellipse",
    line: "line",
    path: "shape",
    polyline: "line",
    text: "text",
    image: "picture",
  };

  function shapeKind(el) {
    if (el.localName === "rect") {
      const [width, height] = [dom.attribute(el, "width"), dom.attribute(el, "height")];
      return width === height ? "square" : "rectangle";
    }
    if (el.localName === "polygon") {
      const corners = (dom.attribute(el, "points") ?? "").match(/-?[\d.]+(?:e-?\d+)?/gi)?.length ?? 0;
      return corners === 6 ? "triangle" : `polygon of ${Math.floor(corners / 2)}`;
    }
    return KINDS[el.localName] ?? "shape";
  }

  function shapeLook(el, turn) {
    const { live } = turn.styleOf(el);
    return words.clean(`${colourName(live.fill) || colourName(live.stroke)} ${shapeKind(el)}`);
  }

  function lookOf(el, turn) {
    const picture = pictureOf(el, turn);
    if (picture !== "") {
      return `img:${picture}`;
    }
    if (el.namespaceURI === "http://www.w3.org/2000/svg" && el.localName !== "svg") {
      return shapeLook(el, turn);
    }
    const { live } = turn.styleOf(el);
    const colour = colourName(live.backgroundColor);
    return colour === "" ? "" : `${colour} box`;
  }

  return { lookOf, pictureOf };
});
