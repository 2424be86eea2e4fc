// Sliders on touch screens. A touch moves a slider immediately, even if the finger only scrolls past: so the new value counts
// when the finger moves sideways or is lifted, and is reset when the page scrolls.

const SIDEWAYS = 5; // pixels

export function onTouchSlide(input, does) {
  let touch = null;
  const begin = (event) => {
    touch = event.pointerType === "mouse" ? null : { x: event.clientX, was: input.value };
  };
  const decide = (event) => {
    touch = null;
    does(event);
  };
  input.addEventListener("pointerdown", begin);
  input.addEventListener("input", (event) => touch ?? does(event));
  input.addEventListener("pointermove", (event) => touch && Math.abs(event.clientX - touch.x) > SIDEWAYS && decide(event));
  input.addEventListener("pointerup", (event) => touch && decide(event));
  input.addEventListener("pointercancel", () => {
    if (touch) input.value = touch.was;
    touch = null;
  });
}
