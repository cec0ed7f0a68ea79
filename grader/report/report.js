"use strict";
// The report's script: draws a testcase when it is opened. No libraries, nothing loaded.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const KEYS = ["A", "B", "Select", "Start", "Up", "Down", "Left", "Right"];
  const cases = [...document.querySelectorAll(".case")];
  const list = document.getElementById("cases");

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const png = (text) => new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = reject;
    image.src = "data:image/png;base64," + text;
  });

  // A canvas with one device pixel a pixel, and its size in CSS pixels.
  function prepare(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    return [pen, box.width, box.height];
  }

  // Scores over time: the worst of each column decides, so that no bad frame hides. 255 is a perfect frame.
  function timeline(canvas, scores, total, none, cursor, marks) {
    const [pen, width, height] = prepare(canvas);
    const fills = { good: colour("--good-fill"), fair: colour("--fair-fill"), poor: colour("--poor-fill") };
    const inks = { good: colour("--good"), fair: colour("--fair"), poor: colour("--poor") };
    for (let x = 0; x < width; x++) {
      const from = Math.floor((x * total) / width), to = Math.max(from + 1, Math.floor(((x + 1) * total) / width));
      let worst = 256;
      for (let n = from; n < to && n < scores.length; n++) if (scores[n] !== none && scores[n] < worst) worst = scores[n];
      if (worst === 256) continue;
      const top = none === 255 ? 254 : 255;
      const kind = worst >= top ? "good" : worst > top / 2 ? "fair" : "poor";
      const y = (1 - worst / top) * (height - 3);
      pen.fillStyle = fills[kind];
      pen.fillRect(x, y, 1, height - y);
      pen.fillStyle = inks[kind];
      pen.fillRect(x, y, 1, 3);
    }
    pen.fillStyle = colour("--soft");
    for (const frame of marks) pen.fillRect(((frame + 0.5) * width) / total, height - 4, 1, 4);
    if (cursor !== null) {
      pen.fillStyle = colour("--focus");
      pen.fillRect(((cursor + 0.5) * width) / total - 1, 0, 2, height);
    }
  }

  function waves(canvas, ref, cand) {
    const [pen, width, height] = prepare(canvas);
    let peak = 8; // quiet tracks are drawn larger, both to the same scale
    for (const bins of [ref, cand]) for (const bin of bins) peak = Math.max(peak, Math.abs(bin - 128));
    const draw = (bins, middle, ink) => {
      pen.fillStyle = ink;
      const count = bins.length / 2;
      for (let n = 0; n < count; n++) {
        const low = bins[2 * n] - 128, high = bins[2 * n + 1] - 128;
        const y = middle - (high / peak) * (height / 4), end = middle - (low / peak) * (height / 4);
        pen.fillRect((n * width) / count, y, Math.max(width / count, 1), Math.max(end - y, 1));
      }
    };
    draw(ref, height / 4, colour("--ref"));
    draw(cand, (3 * height) / 4, colour("--cand"));
  }

  function paint(canvas, image) {
    canvas.width = 256;
    canvas.height = 240;
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, 256, 240);
  }

  // The reference, grey and dim, with every differing pixel in red.
  function difference(canvas, ref, cand) {
    canvas.width = 256;
    canvas.height = 240;
    const pen = canvas.getContext("2d");
    const out = pen.createImageData(256, 240);
    for (let i = 0; i < out.data.length; i += 4) {
      const a = ref.data, b = cand.data;
      const same = a[i] === b[i] && a[i + 1] === b[i + 1] && a[i + 2] === b[i + 2];
      const grey = 0.35 * (0.299 * a[i] + 0.587 * a[i + 1] + 0.114 * a[i + 2]);
      out.data.set(same ? [grey, grey, grey, 255] : [255, 48, 64, 255], i);
    }
    pen.putImageData(out, 0, 0);
  }

  const held = (keys) => KEYS.filter((_, bit) => keys & (1 << bit)).join("+") || "no button";

  async function open(details, page) {
    const body = details.querySelector(".body");
    const last = page.mode === "endstate";
    const facts = [page.description, page.rom, page.replay ? "input " + page.replay : "no input",
      last ? "scored by its last picture alone: as good as exact, or 0" : "scored by every picture",
      `picture threshold ${page.video_tau}`, `sound threshold ${page.audio_tau}`];
    if (page.traps) facts.push(`${page.traps} calls trapped`);
    body.append(make("p", {}, facts.filter(Boolean).join(" · ")));
    for (const note of page.notes) body.append(make("p", {}, note));

    const kept = Object.keys(page.pictures).map(Number).sort((a, b) => a - b);
    const stops = [...kept];
    if (!stops.includes(page.frames - 1)) stops.push(page.frames - 1);
    const [video, differing, keys] = await Promise.all([inflate(page.video), inflate(page.differing), inflate(page.keys)]);
    const count = (frame) => differing[2 * frame] | (differing[2 * frame + 1] << 8);
    let first = -1;
    for (let n = 0; n < page.frames; n++) if (count(n) > 8) { first = n; break; }

    const scored = last ? "informs only, the last picture is scored; " : "";
    const strip = make("canvas", { class: "plot", role: "img", "aria-label": "picture score of every frame" });
    body.append(make("h3", {}, "Picture score, frame by frame",
      make("span", { class: "legend" }, scored + (first < 0 ? "no frame diverges" : `first diverging frame ${first}`))),
      strip);
    let audio = null, audioStrip = null;
    if (page.audio) {
      audio = await inflate(page.audio);
      audioStrip = make("canvas", { class: "plot", role: "img", "aria-label": "sound score of every sixtieth of a second" });
      body.append(make("h3", {}, "Sound score, a sixtieth of a second at a time"), audioStrip);
    }

    const slider = make("input", { type: "range", min: 0, max: stops.length - 1, value: 0, "aria-label": "kept frame" });
    const back = make("button", { type: "button", "aria-label": "previous kept frame" }, "←");
    const on = make("button", { type: "button", "aria-label": "next kept frame" }, "→");
    const jump = make("button", { type: "button" }, "first difference");
    const label = make("output", { "aria-live": "polite" });
    body.append(make("h3", {}, `Pictures (${stops.length} frames kept)`),
      make("div", { class: "scrub" }, back, slider, on, jump, label));
    const views = ["reference", "candidate", "difference"].map((name) => {
      const canvas = make("canvas", { role: "img", "aria-label": name });
      return [canvas, make("figure", {}, canvas, make("figcaption", {}, name))];
    });
    body.append(make("div", { class: "views" }, ...views.map(([, figure]) => figure)));

    const draw = () => {
      const frame = stops[Number(slider.value)];
      timeline(strip, video, page.frames, -1, frame, kept);
      if (audioStrip) timeline(audioStrip, audio, page.frames, 255, frame, []);
    };
    let turn = 0;
    const show = async () => {
      const mine = ++turn;
      const frame = stops[Number(slider.value)];
      const score = video[frame] === 255 ? "1" : (video[frame] / 255).toFixed(2);
      label.textContent = `frame ${frame} · score ${score} · ${count(frame)} pixels differ · ${held(keys[frame])}`;
      slider.setAttribute("aria-valuetext", label.textContent);
      draw();
      const [ref, cand] = page.pictures[frame] || page.last;
      const images = await Promise.all([png(ref), png(cand)]);
      if (mine !== turn) return; // a later frame was asked for meanwhile
      difference(views[2][0], paint(views[0][0], images[0]), paint(views[1][0], images[1]));
    };
    const go = (place) => {
      slider.value = Math.max(0, Math.min(stops.length - 1, place));
      return show();
    };
    slider.addEventListener("input", show);
    back.addEventListener("click", () => go(Number(slider.value) - 1));
    on.addEventListener("click", () => go(Number(slider.value) + 1));
    jump.disabled = first < 0;
    jump.addEventListener("click", () => go(stops.findIndex((frame) => frame >= first)));
    const pick = (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      const wanted = ((event.clientX - box.left) / box.width) * page.frames;
      let best = 0;
      stops.forEach((frame, n) => { if (Math.abs(frame - wanted) < Math.abs(stops[best] - wanted)) best = n; });
      go(best);
    };
    for (const canvas of [strip, audioStrip]) if (canvas) canvas.addEventListener("click", pick);
    details.addEventListener("keydown", (event) => {
      if (event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "ArrowLeft") go(Number(slider.value) - 1);
      else if (event.key === "ArrowRight") go(Number(slider.value) + 1);
      else return;
      event.preventDefault();
    });

    const redraws = [draw];
    if (page.wave_ref) {
      const [ref, cand] = await Promise.all([inflate(page.wave_ref), inflate(page.wave_cand)]);
      const canvas = make("canvas", { class: "plot wave", role: "img", "aria-label": "sound of reference and candidate" });
      const legend = make("span", { class: "legend" }, make("b", { class: "r" }, "reference"), " above, ",
        make("b", { class: "c" }, "candidate"), " below");
      body.append(make("h3", {}, "Sound", legend), canvas);
      redraws.push(() => waves(canvas, ref, cand));
      if (page.spectrum_ref && page.spectrum_cand) {
        const images = await Promise.all([png(page.spectrum_ref), png(page.spectrum_cand)]);
        images[0].alt = "spectrogram of the reference";
        images[1].alt = "spectrogram of the candidate";
        body.append(make("h3", {}, "Spectra, 80 to 8000 Hz: reference above, candidate below"),
          make("div", { class: "spectra" }, ...images));
      }
    }
    details.redraw = () => redraws.forEach((one) => one());
    details.redraw();
    await go(first < 0 ? stops.length - 1 : stops.findIndex((frame) => frame >= first));
    details.dataset.ready = "1";
  }

  for (const details of cases) {
    details.addEventListener("toggle", () => {
      const page = data[Number(details.dataset.place)];
      if (!details.open || details.dataset.opened || !page) return;
      details.dataset.opened = "1";
      open(details, page).catch((error) => {
        details.querySelector(".body").append(make("p", {}, "this testcase cannot be drawn: " + error));
      });
    });
  }
  const redraw = () => cases.forEach((details) => { if (details.open && details.redraw) details.redraw(); });
  window.addEventListener("resize", redraw);

  document.querySelector(".tools").hidden = false;
  document.getElementById("imperfect").addEventListener("change", (event) => {
    for (const details of cases) details.hidden = event.target.checked && details.dataset.perfect === "1";
  });
  document.getElementById("order").addEventListener("change", (event) => {
    const key = event.target.value;
    list.append(...[...cases].sort((a, b) => a.dataset[key] - b.dataset[key] || a.dataset.place - b.dataset.place));
  });
  const theme = document.getElementById("theme");
  const media = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme || (media.matches ? "dark" : "light")) === "dark";
  const sync = () => { theme.setAttribute("aria-pressed", String(dark())); redraw(); };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; sync(); });
  media.addEventListener("change", sync);
  sync();

  const wanted = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (wanted && wanted.tagName === "DETAILS") wanted.open = true;
})();
