// Entry of the worker's pages.
import { watchKeys } from "./key_hints.js";
import { applySheet } from "./stylesheet.js";
import { Work } from "./work.js";

applySheet();
watchKeys();
new Work(document.getElementById("app")).begin();
