// Plain sentences for workers about requests that the server refused: without codes and names of fields.

const LINK = "This link is incomplete or was changed. Please open it again from where you got it, or ask for a new one.";
const RELOAD = "The study has changed since you opened this page. Please load the page again.";
const NOT_NOW = "The study cannot be opened at the moment. Please try again in a minute.";
const ANSWER = "Your previous answer could not be stored; the task will be shown again.";
const MAY_CHANGE = ["paused", "unknown", "not-found", "not-possible"]; // the same link may open the study later

export function entryRefusal(failure) {
  // Why a page cannot be shown, as sentences.
  const { error, detail, message } = failure;
  if (failure.entering) return LINK;
  if (error === "unavailable") return NOT_NOW;
  if (error === "not-found" || error === "not-possible") return RELOAD;
  return detail ?? message;
}

export function staysRefused({ status, arriving, retry, error }) {
  // Whether trying the same link again cannot help.
  return !retry && !MAY_CHANGE.includes(error) && Boolean(arriving || status === 403);
}

export function storeRefusal({ error, detail }) {
  // Why a page could not be sent, as a sentence.
  return error === "unavailable" ? "The study cannot store anything at the moment." : detail;
}

export function answerRefusal({ error, detail }) {
  // Why an answer was not stored, as sentences.
  return ["invalid", "not-found", "not-possible", "too-large"].includes(error) ? ANSWER : `Not accepted: ${detail}`;
}
