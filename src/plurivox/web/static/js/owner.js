import { make } from "./dom.js";
