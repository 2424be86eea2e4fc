// The studies on this server that this browser has signed in to, kept in the browser: the server does not list its studies.

const folderOf = (address) => new URL(".", new URL(address, location.href)).pathname;
const listKey = (overview) => `plurivox.studies.${folderOf(overview)}`;

export function studyName() {
  // The study of the current page: the last folder of its address.
  return decodeURIComponent(folderOf(location.href).split("/").at(-2));
}

export function knownStudies(overview = location.href) {
  try {
    return JSON.parse(localStorage.getItem(listKey(overview)) ?? "[]");
  } catch {
    return []; // the browser's storage is disabled
  }
}

export function keepStudy(name, known, overview = location.href) {
  const others = knownStudies(overview).filter((one) => one !== name);
  try {
    localStorage.setItem(listKey(overview), JSON.stringify(known ? [...others, name].sort() : others));
  } catch {
    // storage is disabled: the list stays empty, and the owner enters the name of the study
  }
}
