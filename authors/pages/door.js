// The figure of the first page. It stands in the page and runs where it stands, so that the first thing painted has its
// numbers; boards.js comes later, and adds the matrices to the same engine.

import "./older.js";
import { Engine } from "../../workbench/board/page/engine.js";
import { figureOf } from "../../workbench/board/page/figures/figure.js";
import { modelOf } from "./model.js";

const place = document.currentScript.parentElement.querySelector(".saved-board");
modelOf(place);
place.engine = new Engine(place.model);
figureOf(place.engine, place.holder);
