// Which studies of a house this browser has signed in to. The server tells nobody; the browser remembers for itself.

const folderOf = (address) => new URL(".", new URL(address, location.href)).pathname;
const listKey = (house) => `plurivox.studies.${folderOf(house)}`;

export function studyName() {
  // The study whose page this is: the last folder of its address.
  return decodeURIComponent(folderOf(location.href).split("/").at(-2));
}

export function knownStudies(house = location.href) {
  try {
    return JSON.parse(localStorage.getItem(listKey(house)) ?? "[]");
  } catch {
    return []; // a browser that keeps nothing
  }
}

export function keepStudy(name, known, house = location.href) {
  const others = knownStudies(house).filter((one) => one !== name);
  try {
    localStorage.setItem(listKey(house), JSON.stringify(known ? [...others, name].sort() : others));
  } catch {
    // then the list stays empty, and one names the study
  }
}
