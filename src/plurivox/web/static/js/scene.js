// What is to be labelled: a picture, a sound or texts, and when it can be seen.
import { button, make, put } from "./dom.js";
import { SoundPlayer } from "./sound.js";
import { decoded } from "./timing.js";

export class Scene {
  constructor(task, pixels, many = false) {
    Object.assign(this, { task, pixels });
    this.sound = task.kind === "audio" ? new SoundPlayer(task, many) : null;
    this.root = this.sound?.root ?? (task.kind === "image" ? this.picture() : this.texts());
  }

  picture() {
    this.image = showImage(this.task, this.pixels);
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
    // Until it can be seen. `tell` hears of a picture that did not come, and of one that came after all.
    if (!this.image || (await decoded(this.image))) return;
    tell("unseen");
    const word = make("p", {}, "The picture did not load. If it stays away, answer “Can't tell”: we are told why.");
    const again = button("Load it again", () => this.reload(tell));
    put(this.root, make("div", { class: "lost", role: "alert" }, word, again));
  }

  async reload(tell) {
    const image = showImage(this.task, this.pixels);
    if (!(await decoded(image))) return;
    put(this.root, image);
    tell("seen");
  }
}

export function showImage(task, pixels) {
  // The server enlarges small pictures (Lanczos); the size on the page is the same before and after.
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
