// The content of a task: a picture, a sound or texts.
import { button, make, put } from "./dom.js";
import { SoundPlayer } from "./sound_player.js";
import { whenDecoded } from "./task_timing.js";

export class TaskContent {
  constructor(task, pixels, many = false) {
    Object.assign(this, { task, pixels });
    this.sound = task.kind === "audio" ? new SoundPlayer(task, many) : null;
    this.root = this.sound?.root ?? (task.kind === "image" ? this.picture() : this.texts());
  }

  picture() {
    this.image = makeImage(this.task, this.pixels);
    return make("figure", { class: "scene card" }, this.image);
  }

  texts() {
    const { kind, text, text2 } = this.task;
    const part = (name, words) =>
      make("section", {}, name && make("h3", {}, name), make("p", { dir: "auto" }, words ?? ""));
    const parts = kind === "pair" ? [part("First", text), part("Second", text2)] : [part("", text)];
    return make("div", { class: "scene words card", tabindex: "0", role: "region", "aria-label": "Text" }, parts);
  }

  async ready(tell) {
    // Resolves when the content is visible. Calls tell("unseen") if the picture fails to load, tell("seen") if it loads later.
    if (!this.image || (await whenDecoded(this.image))) return;
    tell("unseen");
    const word = make("p", {}, "The picture did not load. If loading it again does not help, answer “Can't tell”: the reason is recorded.");
    const again = button("Load it again", () => this.reload(tell));
    put(this.root, make("div", { class: "lost", role: "alert" }, word, again));
  }

  async reload(tell) {
    const image = makeImage(this.task, this.pixels);
    if (!(await whenDecoded(image))) return;
    put(this.root, image);
    tell("seen");
  }
}

export function makeImage(task, pixels) {
  // The image element. Its size is set before it loads, so that the page does not move.
  const image = make("img", {
    src: task.media.replace(/^\//, ""),
    alt: "The picture to be labelled",
    decoding: "async",
    draggable: "false",
  });
  const { width, height } = task;
  const scale = width && height ? Math.max(1, pixels / Math.max(width, height)) : 1;
  if (width && height) Object.assign(image, { width: Math.round(width * scale), height: Math.round(height * scale) });
  return image;
}
