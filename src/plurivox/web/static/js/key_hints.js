// Key hints (key caps, “press Enter”): hidden on a device whose main pointer is a finger, until a key of a keyboard is pressed.

const isTouch = () => globalThis.matchMedia?.("(pointer: coarse)").matches ?? false;
let keyPressed = false;

export const showsKeys = () => keyPressed || !isTouch();

export function watchKeys(root = document.documentElement) {
  root.toggleAttribute("data-touch", !showsKeys());
  addEventListener(
    "keydown",
    ({ key, isComposing, target }) => {
      // Keyboards on the screen send keys too, but only into text fields.
      if (keyPressed || isComposing || key === "Unidentified" || target.matches?.("input:not([type=range]), textarea")) return;
      keyPressed = true;
      root.removeAttribute("data-touch");
    },
    true,
  );
}
