// Crowdsourcing platforms: the parameters of their links, the preview, and the form that reports completion.
import { make, paragraphs, put } from "./dom.js";

const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE";

export const isPreview = ({ search }) => new URLSearchParams(search).get("assignmentId") === NOT_ACCEPTED;

export function platformEntry(search) {
  const given = new URLSearchParams(search);
  const read = (...names) => names.map((name) => given.get(name) ?? "");
  if (given.has("PROLIFIC_PID")) {
    const [pid, study, session] = read("PROLIFIC_PID", "STUDY_ID", "SESSION_ID");
    return { platform: { name: "prolific", pid, study, session } };
  }
  if (!given.has("assignmentId") || !given.has("workerId")) return null;
  const [pid, study, session, to] = read("workerId", "hitId", "assignmentId", "turkSubmitTo");
  return { platform: { name: "mturk", pid, study, session, submit_to: to.replace(/\/+$/, "") } };
}

export function showPreview(app, { title, texts }) {
  const heading = make("h1", { tabindex: "-1" }, title);
  const note = make("p", { class: "note calm", role: "status" }, "This is a preview. Accept the task to take part.");
  const parts = texts.map((text) => make("section", { class: "card" }, paragraphs(text)));
  put(app, make("main", { class: "read" }, heading, note, parts));
  document.title = `Preview · ${title}`;
}

export function endForm({ action, fields }) {
  // A form that the browser submits, so that the platform's page follows; it has a button in case that does not happen.
  const hidden = Object.entries(fields).map(([name, value]) => make("input", { type: "hidden", name, value }));
  return make("form", { method: "post", action }, hidden, make("button", { class: "button main" }, "Submit"));
}
