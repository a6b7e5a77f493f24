import { showOwnTimes } from "../../../workbench/display/moments.js";

showOwnTimes(document.body);
