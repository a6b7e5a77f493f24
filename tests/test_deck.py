"""The deck, as a file and live: what a hall sees, what a lecturer's keys do, and what an accident leaves."""

import hashlib
import itertools
import json
import os
import re
import urllib.error
import urllib.request
from base64 import b64decode
from contextlib import contextmanager
from functools import cache
from random import SystemRandom
from types import SimpleNamespace
from unittest import mock

import nbformat
import psutil
import pytest
import torch
import warm
from bs4 import BeautifulSoup
from lab_page import TOO_SMALL, wait_for

from attn_lib.plots import curves
from authors import speaker
from authors.deck import build, serve

NOTEBOOKS = sorted(build.NOTEBOOKS.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
HALL, LAPTOP, PROJECTOR, OLD, PHONE = (1920, 1080), (1366, 768), (1280, 720), (1024, 768), (390, 844)
PATIENCE = 60_000  # ms for what the kernel has to do on a machine that is busy

SLIDE = "section.present > section.present "
IN_A_BOARD = SLIDE + ".attn-board :is(input, [tabindex='0'])"
COLOUR = "(node) => getComputedStyle(node).color"
BORDER = "(node) => getComputedStyle(node).borderLeftColor"
READY = "document.documentElement.dataset.python === 'ready'"
NUMBER = "Reveal.getSlides().indexOf(Reveal.getCurrentSlide()) + 1"

NEXT = "PageDown", "ArrowRight", "Space"  # which clickers send
MEASURED = {"title": "Time on this machine", "xlabel": "tokens", "ylabel": "ms"}

# Every slide, first as it comes up and then with all that can come: what is seen too early, cut, shrunk, small, beyond
# the edge, narrow or without a heading. Of all slides or of one, named by its number.
LOOK_AT_ALL = f"""(only) => {{
  {TOO_SMALL}
  const seen = (node) => node.checkVisibility({{ visibilityProperty: true, opacityProperty: true }});
  // Of a drawing: matplotlib draws letters as shapes of 100 units, an exponent within them smaller; diagrams have text.
  const smallestLetter = (img) => {{
    const svg = new DOMParser().parseFromString(atob(img.src.split(",")[1]), "image/svg+xml").documentElement;
    const [, , width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    const scale = (node) => {{
      const own = node.getAttribute("transform")?.match(/scale\\(([\\d.]+)/);
      return Number(own?.[1] ?? 1) * (node === svg ? 1 : scale(node.parentElement));
    }};
    const sizes = [...svg.querySelectorAll("g[transform*=scale] use")].map((letter) => 100 * scale(letter));
    for (const node of svg.querySelectorAll("[font-size]")) sizes.push(parseFloat(node.getAttribute("font-size")));
    const box = img.getBoundingClientRect();
    return Math.min(...sizes) * Math.min(box.width / width, box.height / height);
  }};
  const wrong = [];
  for (const [i, slide] of Reveal.getSlides().entries()) {{
    if (only && i + 1 !== only) continue;
    const {{ h, v }} = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    const say = (what, found = "") => wrong.push(`slide ${{i + 1}}: ${{what}} ${{found}}`);
    const question = slide.querySelector(".cell[data-question]");
    const answers = question && [question.querySelector(".outputs.saved")];
    for (let next = question; (next = next?.nextElementSibling); ) answers.push(next);
    if (answers?.some(seen)) say("answers a question before it is asked");
    if (question && !answers[0].textContent.trim()) say("has no answer to its question");
    const hidden = [...slide.querySelectorAll(".fragment:not(.visible)")];
    for (const part of hidden) part.classList.add("visible");
    const scale = Reveal.getScale(), box = slide.getBoundingClientRect();
    const [body, heading] = [".body", ".heading"].map((name) => slide.querySelector(name));
    if (!heading.textContent.trim()) say("has no heading");
    const look = getComputedStyle(heading), goesOn = heading.matches(".continued");
    if ((look.fontWeight < 600) !== goesOn || (look.color !== getComputedStyle(body).color) !== goesOn)
      say("has a heading of the wrong kind");
    if (look.textAlign !== "left") say("has a heading that begins anywhere");
    if ((parseFloat(look.fontSize) > 40) !== heading.matches("h1")) say("has a heading of the wrong size");
    const top = (heading.getBoundingClientRect().top - box.top) / scale;
    if (i && Math.abs(top - 26) > 1) say("has a heading that jumps to", top);
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) say("is cut");
    if (body.scrollHeight > body.clientHeight + 1) say("is longer than the screen");
    const parts = [...slide.querySelectorAll(".heading, .cell *")];
    const beyond = parts.find((node) => {{
      const own = node.getBoundingClientRect();
      if (!own.width || !own.height || node.closest("details:not([open])")) return false;
      return own.right > box.right + 1 || own.bottom > box.bottom + 1;
    }});
    if (beyond) say("has something beyond the edge:", beyond.outerHTML.slice(0, 80));
    const small = tooSmall(parts, scale);
    if (innerWidth >= 1280 && small.length) say("is hard to read:", small[0]);
    for (const img of slide.querySelectorAll(".cell img")) {{
      const share = img.getBoundingClientRect().width / box.width;
      if (img.matches(".drawing") && share < (img.matches(".broad") ? 0.65 : 0.5)) say("has a small drawing");
      const letter = smallestLetter(img);
      if (innerWidth >= 1280 && letter < 18) say("has letters that are small:", `${{letter}} px in ${{img.alt}}`);
    }}
    for (const part of hidden) part.classList.remove("visible");
  }}
  Reveal.slide(0, 0);
  return wrong;
}}"""


# How a deck looks, as people would say it, by where: what is not so.
SEE = """(where) => {
  const one = (what) => (typeof what === "string" ? document.querySelector(what) : what);
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const look = (what, part) => getComputedStyle(one(what), part), px = (what, name = "fontSize") =>
    parseFloat(look(what)[name]);
  const box = (what) => one(what).getBoundingClientRect();
  const gap = (above, below) => box(below).top - box(above).bottom, middle = (what) => (box(what).top +
    box(what).bottom) / 2;
  const within = (number, least, most) => number >= least && number <= most;
  const words = (what) => {
    const range = document.createRange();
    range.selectNodeContents(one(what));
    return range.getBoundingClientRect();
  };
  const colour = (name) => {
    const node = Object.assign(document.createElement("i"), { style: `color: var(--${name})` });
    document.body.append(node);
    const { color } = getComputedStyle(node);
    node.remove();
    return color;
  };
  const light = (colour) =>
    colour.match(/\\d+/g).slice(0, 3).map((c) => (c / 255) ** 2.2).reduce((sum, c, i) => sum + c * [0.21, 0.72,
      0.07][i], 0.05);
  const contrast = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
  const clear = "rgba(0, 0, 0, 0)", ground = (what) => look(what).backgroundColor;
  const come = (what) => { // to the slide of it, with all that can come
    const slide = one(what).closest("section section"), { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    for (const part of all(".fragment", slide)) part.classList.add("visible");
    return one(what);
  };
  const said = (what, text) => Object.assign(one(what), { hidden: false, textContent: text });
  const seen = {
    hall: {
      "words have no serifs, code has letters of one width": () =>
        look(".body").fontFamily.includes("sans-serif") && look(".source pre").fontFamily.includes("monospace"),
      "the number stands small at the lower left, and alone": () =>
        px(".slide-number") === 18 && within(box(".slide-number").left, 5, 15) && box(".slide-number").width < 120
        && within(innerHeight - box(".slide-number").bottom, 5, 7) && ground(".slide-number") === clear
        && look(".slide-number").color === colour("quiet") && look(".slide-number a").textDecorationLine === "none",
      "arrows are pale, in the colour of what can be pressed": () =>
        look(".controls").color === colour("accent") && within(Number(look(".controls").opacity), 0.3, 0.8),
      "a number that is typed stands large, on top of all": () => {
        const plate = said(".jump", "Slide 42"), { left, top, bottom } = box(plate);
        const upon = document.elementFromPoint(left + 20, middle(plate));
        const fine = px(plate) > 36 && Math.abs(left - 640) < 2 && within(innerHeight - bottom, 250, 330)
          && upon === plate && px(plate) < 44
          && ground(plate) === colour("code") && look(plate).borderTopWidth === "1px"
            && within(px(plate, "borderTopLeftRadius"), 9, 16)
          && words(plate).left - left > 9 && box(plate).width < 300 && look(plate).color === colour("ink") && top > 0
          && look(plate).borderTopColor === colour("line") && look(plate).fontFamily.includes("sans-serif");
        plate.hidden = true;
        return fine;
      },
      "what Python does stands below, between slide and arrows": () => {
        const plate = said(".python", "Python is busy"), { right, bottom, width } = box(plate);
        const fine = px(plate) >= 18 && right <= box(".controls").left && right > 1100 && width < 250
          && within(innerHeight - bottom, 5, 8) && box(plate).height < 36 && look(plate).color === colour("ink");
        plate.classList.add("trouble");
        const warns = ground(plate) !== colour("code") && contrast(look(plate).color, ground(plate)) > 4.5;
        plate.classList.remove("trouble");
        plate.hidden = true;
        return fine && warns;
      },
      "the keys stand in columns on a plate of their own": () => {
        const help = one(".help");
        help.showModal();
        const th = all(".help th"), wide = box(help).width;
        const fine = px(help) >= 18 && within(wide, 800, 1030) && ground(help) === colour("paper")
          && look(help).color === colour("ink")
          && look(help).borderTopColor === colour("line") && look(help).borderTopWidth === "1px"
            && within(px(help, "borderTopLeftRadius"), 8, 12)
          && look(help).fontFamily.includes("sans-serif") && px(help, "lineHeight") / px(help) < 1.5
          && look(help, "::backdrop").backgroundColor === "rgba(0, 0, 0, 0.533)"
          && th.every((node) => words(node).left === words(th[0]).left && words(node).height < 30)
          && th.every((node) => Math.abs(words(node).top - words(node.nextElementSibling).top) < 8)
          && within(Math.min(...th.map((node) => box(node).right - words(node).right)), 26, 31)
          && look(th[0]).fontFamily.includes("monospace") && look(th[0]).fontWeight === "600";
        help.close();
        return fine;
      },
      "headings are of one size, and a title of another": () =>
        all(".heading").every((node) => within(px(node), node.matches("h1") ? 44 : 35, node.matches("h1") ? 48 : 37)
          && within(px(node, "lineHeight") / px(node), 1.1, 1.35)
          && look(node).fontWeight === (node.matches(".continued") ? "400" : "600")),
      "what has no size of its own is as large as words": () => px(".reveal") === 25,
      "words do not glare, lines are quiet": () => within(contrast(colour("ink"), colour("paper")), 14, 20.5)
        && within(contrast(colour("line"), colour("paper")), 1.3, 2.6),
      "a heading keeps off what it stands above": () => all(".heading").every((node) => within(px(node,
        "marginBottom"), 5, 16)),
      "slides keep off the edges": () =>
        all("section section:not(:has(.saved-board))").every((node) => px(node, "paddingLeft") === 48
          && px(node, "paddingBottom") >= 24),
      "parts of a slide keep off each other": () => all(".body").every((node) => px(node, "rowGap") === 10),
      "code stands on a ground of its own, with a line at its left": () =>
        all(".source").every((node) => ground(node) === colour("code") && within(px(node, "borderLeftWidth"), 3, 5)
          && look(node).borderLeftColor === colour("line") && within(px(node, "borderTopLeftRadius"), 3, 5)
          && px(node, "paddingLeft") > 8 && px(node, "paddingTop") > 4)
        && new Set(["code", "paper", "line", "ink", "quiet", "accent", "wrong", "right"].map(colour)).size === 8,
      "all that is written can be read on the slide, on code too": () =>
        ["ink", "quiet", "accent", "wrong", "right"].every((name) =>
          ["paper", "code"].every((under) => contrast(colour(name), colour(under)) > 4.5)),
      "words, bars and lines go by the same light": () =>
        look("body").color === colour("ink") && ground("body") === colour("paper")
        && look("html").colorScheme === (document.querySelector(".dark") ? "dark" : "normal"),
      "steps come at once": () => all(".fragment").every((node) => look(node).transitionDuration === "0s"),
      "what has nothing to show has no room": () => all(".code.unseen, .outputs:empty").every((node) =>
        !node.checkVisibility()),
      "a word that is longer than a line is broken": () =>
        [".source pre", ".outputs pre:not(.wide *)"].every((what) => {
          const pre = come(all(what).find((node) => !node.closest(".unseen, details"))), before = pre.innerHTML;
          pre.innerHTML = `<span class=line>${"x".repeat(999)}</span>`;
          const whole = pre.scrollWidth <= pre.clientWidth && box(pre).right < 1280;
          pre.innerHTML = before;
          return whole;
        }),
      "a line of code begins within its ground": () => {
        const line = come(all(".source .line").find((node) => !node.closest(".unseen, .code:has(.drawing)")));
        return within(words(line).left - box(line.closest(".source")).left, 10, 26);
      },
      "its letters are large, its lines close": () =>
        all(".source pre").every((node) => px(node) === 20 && within(px(node, "lineHeight") / px(node), 1.25, 1.45)
          && look(node).margin === "0px" && ground(node) === clear),
      "what a cell shows is set in, as large as words": () =>
        all(".outputs:not(:has(.saved-board, img))").every((node) => px(node) === 24
          && px(node, "paddingLeft") === 16 && px(node, "paddingTop") === 4),
      "what a cell prints is as large as code": () =>
        all(".cell:not(.wide) > .outputs pre").every((node) => within(px(node), 21, 23) && look(node).margin === "0px"
          && within(px(node, "lineHeight") / px(node), 1.3, 1.4)),
    },
    "01_by_hand": {
      "an upright plot is as high as the slide, its code and what is to be noticed stand at its right": () =>
        all("img.upright").every((img) => {
          const code = come(img).closest(".code"), source = code.querySelector(".source"), words =
            code.nextElementSibling;
          return within(px(img, "height"), 580, 592) && [source, words].every((node) => !node || node === words
            && !node.matches(".prose")
            || within(box(node).left - box(img).right, 18, 40)) && Math.abs(box(source).top - box(img).top) < 2
              && box(source).height < box(source.querySelector("pre")).height + 20
            && (!words?.matches(".prose") || Math.abs(gap(source, words) - box(img).bottom + box(words).bottom) < 15)
            && Math.abs(box(img).width / box(img).height / (img.naturalWidth / img.naturalHeight) - 1) < 0.02
            && px(source.querySelector(".line"), "paddingLeft") < 60
              && px(source.querySelector(".line"), "textIndent") > -60;
        }),
      "a plot stands close below its code": () => {
        const img = come("img.drawing:not(.upright)"), source = img.closest(".code").querySelector(".source");
        return within(gap(source, img), 0, 24) && box(source).height < box(source.querySelector("pre")).height + 20;
      },
      "a diagram is not distorted, what is said of it stands beside it": () => {
        const img = come(".prose img:not(.broad)"), prose = img.closest(".prose"), words =
          prose.querySelector("p:not(:has(img))");
        const more = [...Array(4)].map(() => prose.appendChild(words.cloneNode(true)));
        const beside = [words, ...more].every((node) => within(box(node).left - box(img).right, 15, 30));
        const follows = box(more[0]).top < box(img).bottom - 20;
        for (const node of more) node.remove();
        return beside && follows && box(words).width > 155
          && box(img).height <= 600 * 1.25
          && Math.abs(box(img).width / box(img).height / (img.naturalWidth / img.naturalHeight) - 1) < 0.02;
      },
      "paragraphs keep off each other, and the last from nothing": () => {
        const prose = come(".prose:not(:has(img)):has(p + p)"), [first, second] = all("p", prose);
        return within(gap(first, second) / px(first), 0.4, 0.7)
          && look(prose.lastElementChild).marginBottom === "0px";
      },
      "code among words stands on a plate": () => {
        const code = come(".prose p code");
        return ground(code) === colour("code") && within(words(code).left - box(code).left, 2, 6)
          && within(px(code), 19.4, px(code.parentElement) - 1) && px(code, "borderTopLeftRadius") === 3;
      },
      "a question and its line stand in one row, large": () => {
        const form = come(".guess"), line = one(".guess input"), button = one(".guess button");
        const verdict = said(".guess .verdict", "✓"), besides = (words(verdict).top + words(verdict).bottom) / 2;
        const inItsColour = ["right", "wrong"].every((kind) => {
          verdict.className = `verdict ${kind}`;
          return look(verdict).color === colour(kind) && look(verdict).fontWeight === "600";
        });
        Object.assign(verdict, { className: "verdict", textContent: "" });
        return [form, line, button].every((node) => px(node) === 26) && Math.abs(middle(line) - middle(button)) < 2
          && within(box(button).left - box(line).right, 10, 20) && within(box(line).width, 350, 450)
            && look(form).flexWrap === "wrap"
          && within(gap(form, ".guess + .source"), 6, 16)
          && Math.abs(middle(line) - besides) < 3 && inItsColour
            && Math.abs(middle(line) - (box("label").top + box("label").bottom) / 2) < 2;
      },
      "equations stand one below the other at their signs": () => {
        come("mtd[columnalign=right]");
        return all("mtd[columnalign]").every((node) => look(node).textAlign === node.getAttribute("columnalign"))
          && all("mtd").every((node) => within(px(node, "paddingTop") / px(node), 0.1, 0.2)
            && px(node, "paddingLeft") > 1);
      },
      "a formula is as large as words, and keeps off them": () => {
        const math = come(".prose math[display=block]");
        return within(px(math) / px(math.parentElement), 1.05, 1.15)
          && within(px(math, "marginTop") / px(math), 0.3, 0.4);
      },
    },
    "03_masking": {
      "what can be pressed and written in has a frame": () =>
        [".guess input", ".guess button"].every((what) => look(what).borderTopColor === colour("accent")
          && look(what).borderTopWidth === "2px" && px(what, "borderTopLeftRadius") === 6
            && ground(what) === colour("paper")
          && px(what, "paddingTop") === 4 && px(what, "paddingLeft") >= 10)
        && look(".guess input").color === colour("ink") && look(".guess button").color === colour("accent")
        && look(".guess button").cursor === "pointer",
      "a table has no gaps, close lines and names that are whole": () => {
        const table = come(".outputs table:not(.attn-board *)");
        return within(px(table, "lineHeight") / px(table), 1.15, 1.35)
          && all("td, th", table).every((node) => px(node) >= px(table))
          && all("th", table).every((node) => look(node).whiteSpace === "nowrap");
      },
      "a table among words has lines, and begins where they begin": () => {
        const table = come(".prose table");
        return look(table).borderCollapse === "collapse"
          && all("td, th", table).every((node) => look(node).textAlign === "left"
          && look(node).borderBottomWidth === "1px" && look(node).borderBottomColor === colour("line")
          && px(node, "paddingLeft") > 9 && px(node, "paddingTop") > 3);
      },
      "a sentence that leads to a board looks like one, and can be pressed": () => {
        const button = come("button.try");
        return within(px(button, "borderBottomWidth"), 1.5, 2.5)
          && look(button).borderBottomColor === colour("accent")
          && ground(button) === colour("code") && within(words(button).left - box(button).left, 4, 10)
          && px(button, "borderTopLeftRadius") === 4 && px(button, "paddingTop") === 0;
      },
      "a link has the colour of what can be pressed": () => look(".prose a").color === colour("accent"),
      "a board fills the slide": () => {
        const board = come(".saved-board"), slide = board.closest("section");
        return box(slide).right - box(board).right < 30 && box(board).left - box(slide).left < 30
          && px(slide, "paddingBottom") === 22;
      },
      "the call that makes it stands beside the heading, its output nowhere else": () => {
        const slide = come(".saved-board").closest("section"), source = slide.querySelector(".source");
        return Math.abs(box(source).right - 1240) < 2 && box(source).top < 30 && box(source).width <= 560
          && px(source, "maxWidth") === 560
          && box(source).bottom < box(".saved-board").top + 30
            && gap(slide.querySelector(".heading"), ".saved-board") < 12
          && Math.abs(box(slide.querySelector(".heading")).left - 48) < 1;
      },
      "what has the focus has a frame that keeps off it": () => {
        come(".guess input").focus();
        const { outlineWidth, outlineOffset, outlineColor } = look(".guess input");
        document.activeElement.blur();
        return outlineWidth === "3px" && outlineOffset === "2px" && outlineColor === colour("accent");
      },
      "all of a board can be read": () =>
        all(".attn-board *").filter((node) => node.checkVisibility() && node.childNodes.length
          && !node.closest("svg, math"))
          .every((node) => px(node) >= 17.9),
      "a board is close, so that it fits": () => {
        const board = come(".saved-board"), root = all(".attn-board", board)[0] ?? board, has = (what) =>
          root.querySelector(what);
        return px(root, "paddingLeft") === 10 && px(root, "paddingTop") === 4
          && px(has(".flow"), "columnGap") <= 11 && px(has(".flow"), "paddingTop") <= 2
          && all(".place", root).every((node) => px(node, "columnGap") <= 6)
          && all(".head", root).every((node) => px(node, "lineHeight") / px(node) < 1.12
            && px(node, "paddingBottom") <= 1)
          && all(".foot", root).every((node) => px(node, "paddingTop") <= 2)
          && all("td, th", root).every((node) => within(box(node).height, 27, 34));
      },
    },
    "05_match_pytorch": {
      "a plot begins where words begin, and what is to be noticed stands beside its middle": () => {
        const plots = all("img.drawing:not(.upright)");
        return plots.every((img) => {
          const { left } = come(img).closest("section").getBoundingClientRect(), words =
            img.closest(".code").nextElementSibling;
          const code = img.closest(".code").querySelector(".source");
          return Math.abs(box(img).left - left - 48) < 1 && (!words?.matches(".prose")
            || (within(box(words).left - box(img).right, 18, 34)
            && Math.abs((box(words.firstElementChild).top +
              box(words.lastElementChild).bottom) / 2 - middle(img.closest(".outputs"))) < 8
              && box(words).width > 290))
            && (!code.checkVisibility() || (box(code).width > 1150
              && within(box(img).top - box(code).bottom, 0, 24)));
        }) && plots.length > 2;
      },
      "no plot is distorted": () =>
        all("img.drawing").every((img) =>
          Math.abs(box(come(img)).width / box(img).height / (img.naturalWidth / img.naturalHeight) - 1) < 0.02
          || look(img).objectFit === "contain"),
      "a picture of any size stays on the slide": () => {
        const img = come("img.drawing:not(.broad)"), before = img.style.cssText, other =
          come(".prose").appendChild(new Image());
        for (const one of [img, other]) Object.assign(one.style, { width: "3000px", height: "2000px" });
        const fine = px(come(img), "width") <= 1184 && within(px(img, "height"), 530, 540)
          && px(come(other), "height") <= 590
          && box(other).width <= 1184 && look(img).objectFit === "contain"
            && look(img).objectPosition.startsWith("0%");
        img.style.cssText = before;
        other.remove();
        return fine;
      },
      "a broad plot is broader": () =>
        all("img.drawing").every((img) => within(px(come(img), "width"), ...(img.matches(".broad")
          ? [850, 905] : [600, 785]))),
    },
    "04_multi_head": {
      "a broad table that is printed keeps its lines": () =>
        all(".wide .outputs pre").every((pre) => px(come(pre)) === 18 && look(pre).whiteSpace === "pre"
          && Math.abs(words(pre).height / px(pre,
            "lineHeight") / pre.currentCSSZoom - pre.textContent.trimEnd().split("\\n").length) < 0.5),
    },
    phone: {
      "a page to scroll, in letters that can be read": () =>
        look("body").overflow !== "hidden" && px(".reveal") === 17 && within(px(".heading:not(.continued)"), 20, 24)
        && within(px(".heading:not(.continued)", "lineHeight") / px(".heading:not(.continued)"), 1.2, 1.4)
          && px(".heading.continued") === 17,
      "slides follow each other, with a line between": () => {
        const slides = all("section section");
        return slides.every((node, i) => look(node).borderBottomWidth === "1px"
          && look(node).borderBottomColor === colour("line")
          && look(node).position === "static" && px(node, "paddingLeft") === 16 && px(node, "paddingTop") === 14
          && node.checkVisibility({ opacityProperty: true, visibilityProperty: true })
            && box(node).width === innerWidth
          && look(node).pointerEvents === "auto" && (!i || Math.abs(box(node).top - box(slides[i - 1]).bottom) < 1)
          && node.scrollHeight <= node.clientHeight);
      },
      "code and outputs are smaller than words": () =>
        [".source pre", ".prose code", ".outputs pre"].every((what) => px(what) === 14)
        && [".outputs:not(.attn-board *)", ".outputs table:not(.attn-board *)", ".outputs td:not(.attn-board *)",
          ".guess"].every((what) => px(what) === 16)
        && all(".outputs :is(p, td, th, code):not(.attn-board *)").every((node) => px(node) <= 16),
      "cells keep off each other and stay on the screen": () =>
        all(".body > .cell").every((node) => px(node, "marginBottom") === 10 && box(node).right <= innerWidth)
        && all(".body").every((node) => look(node).display === "block" && look(node).zoom === "1"
          && look(node).overflowX === "auto"),
      "pictures are as wide as the screen allows and not distorted": () =>
        all(".prose img, .outputs img.drawing").filter((node) => node.checkVisibility()).every((node) => {
          const { className } = node;
          return [className, "drawing upright"].every((name) => {
            node.className = name; // where it is only seen after a guess, or in another deck
            const fine = box(node).right <= innerWidth && px(node, "maxWidth") === 100 && look(node).minWidth === "0px"
              && look(node).maxHeight === "none"
              && Math.abs(box(node).width / box(node).height / (node.naturalWidth / node.naturalHeight) - 1) < 0.03;
            node.className = className;
            return fine;
          });
        }),
      "words stand below a picture": () => all(".prose:has(img)").every((node) => look(node).display === "block"),
      "a board is as small as it can be read, its menus fit": () =>
        px(".attn-board") === 15 && all(".attn-board select").every((node) => look(node).maxWidth === "60vw"
          || parseFloat(look(node).maxWidth) <= innerWidth * 0.61)
        && all(".attn-board.narrow :is(button, select, .note, td, th)").every((node) => px(node) === 15)
        && all(".attn-board.narrow tbody td.cell").every((node) => within(box(node).height, 44, 50)),
      "a broken line of code stands in a little": () =>
        all(".source .line").every((node) => px(node, "textIndent") === -px(node, "paddingLeft")
          && within(px(node, "paddingLeft"), 10, 20)),
      "what comes in steps is there": () =>
        all(".fragment:not(.waits, .waits *)").every((node) => node.checkVisibility({ opacityProperty: true,
          visibilityProperty: true })),
      "the call that makes a board stands above it, not over the heading": () => {
        const source = one(".code:has(.saved-board) .source");
        return look(source).position === "static" && look(source).maxWidth === "none"
          && px("section:has(.saved-board) > .heading", "marginLeft") === 0;
      },
    },
    paper: {
      "each slide is a page": () => {
        const slides = all("section section");
        return slides.every((node, i) => Math.abs(box(node).top - 719 * i) < 1 && box(node).height === 719
          && box(node).width === 1280
          && box(node).left === 0 && look(node).breakAfter === "page" && look(node).breakInside === "avoid"
            && look(node).overflow === "hidden"
          && look(node).display === "flex"
            && node.checkVisibility({ opacityProperty: true, visibilityProperty: true }));
      },
      "slides stand in their places, also where the overview had moved them": () => {
        const slide = one("section section"), before = slide.style.transform;
        slide.style.transform = "translateX(9px)";
        const { left } = box(slide);
        slide.style.transform = before;
        return left === 0;
      },
      "nothing is on paper that is for a screen": () =>
        all(".waits, .controls, .slide-number, .progress, .python, .jump, .run, .guess button, aside.notes")
          .every((node) => !node.checkVisibility()),
      "what comes in steps is there": () =>
        all(".fragment:not(.waits, .waits *)").every((node) => node.checkVisibility({ opacityProperty: true,
          visibilityProperty: true })),
      "each page's number stands at its lower left": () => {
        const number = look("section section", "::after");
        return number.fontSize === "18px" && number.position === "absolute" && number.left === "10px"
          && number.bottom === "6px" && number.color === colour("quiet");
      },
      "answers stand in columns, in letters that can be read": () => {
        const answers = one(".answers"), lefts = new Set(all(".answers > div").map((node) =>
          Math.round(box(node).left)));
        return px(answers) === 18 && lefts.size === 3 && box(answers).width === 1280 && Math.min(...lefts) === 48
          && px(answers, "paddingTop") === 26
          && Math.max(...all(".answers > div").map((node) => box(node).right)) <= 1233
            && look(answers).fontFamily.includes("sans-serif") && px(answers, "lineHeight") < 27;
      },
      "the page is white and as long as it is": () =>
        look("html").backgroundColor === "rgb(255, 255, 255)"
          && ["html", "body", ".reveal", ".slides"].every((what) => look(what).overflow === "visible")
        && box("body").height > 719 * all("section section").length,
      "what leads to a board is plain words": () => {
        const button = Object.assign(document.createElement("button"), { className: "try" });
        one(".prose p").append(button);
        const plain = look(button).borderBottomWidth === "0px" && look(button).paddingLeft === "0px"
          && ground(button) === clear && look(button).color === look(button.parentElement).color;
        button.remove();
        return plain;
      },
    },
    live: {
      "Run stands at the upper right of its code": () =>
        all(".run").filter((node) => node.checkVisibility()).every((node) =>
          within(box(node.parentElement).right - box(node).right, 4, 9)
            && within(box(node).top - box(node.parentElement).top, 3, 6)
          && within(box(node).height, 20, 38) && within(px(node, "paddingLeft"), 9, 11)
          && within(px(node) * node.currentCSSZoom, 17.9, 18.1)),
      "code that can be written looks like code that cannot": () =>
        ground(".cm-editor") === clear && look(".cm-editor").color === colour("ink")
          && look(".cm-content").padding === "0px"
        && px(".cm-scroller") === 20 && look(".cm-scroller").fontFamily.includes("monospace")
          && look(".cm-content").caretColor === colour("ink"),
      "code that is run has a line of its own, what is shown of other code a broken one": () => {
        const source = one(".source"), { classList } = source.closest(".code");
        classList.add("running", "stale");
        const fine = look(source).borderLeftColor === colour("accent") && look(source).borderLeftStyle === "dashed";
        classList.remove("running", "stale");
        return fine;
      },
      "code that is written in has a frame, what is marked in it can be read": () => {
        const editor = come(".code:not(.unseen) .cm-editor");
        editor.classList.add("cm-focused");
        const [width, offset] = ["outlineWidth", "outlineOffset"].map((name) => px(editor, name));
        const { outlineColor } = look(editor);
        editor.classList.remove("cm-focused");
        return within(width, 2, 3) && within(offset, 3, 4) && outlineColor === colour("accent")
          && look(".cm-line", "::selection").backgroundColor === "rgba(159, 196, 240, 0.333)";
      },
      "a word, a text, a number, a comment and a name are told apart": () => {
        const colours = ["k", "s", "m", "c", "nf"].map((kind) => look(`.cm-line .${kind}`).color);
        return new Set([...colours, colour("ink")]).size === 6
          && look(".cm-line .o").color === look(".cm-line .k").color;
      },
      "an error is large and in a colour of its own, where it was is smaller; a picture stays on the slide": () => {
        const outputs = come(".code:not(.unseen) > .outputs.shown"), wide =
          "<svg xmlns='http://www.w3.org/2000/svg' width='3000' height='2000'/>";
        const said =
          "<div class=error>E<small>s</small><summary>t</summary><pre><b class=ansi-bold>x</b></pre></div>";
        const picture = `<img src="data:image/svg+xml,${encodeURIComponent(wide)}" width=3000 height=2000>`;
        outputs.innerHTML = said + `<table><td>1<td>2</table><div style="font-size: 14px"><p>3</div>${picture}`;
        const [error, pre, bold, img, cell] = [".error", "pre", ".ansi-bold", "img", "td"].map((what) =>
          outputs.querySelector(what));
        bold.replaceWith(Object.assign(document.createElement("span"), { className: "ansi-bold" }));
        const fine = look(error).color === colour("wrong") && px(error) >= 24 && px(pre) === 18
          && look(pre).color === colour("ink")
          && look(pre.firstChild).fontWeight === "700" && px(img, "width") <= 1120 && px(img, "height") <= 470
            && look(img).display === "block"
          && look(cell).borderCollapse === "collapse" && px(cell, "paddingLeft") > 6 && px(cell, "paddingTop") > 1
          && all("small, p", outputs).every((node) => px(node) >= 18)
          && look(outputs.querySelector("summary")).cursor === "pointer";
        outputs.replaceChildren();
        return fine;
      },
    },
  };
  const facts = where.flatMap((place) => Object.entries(seen[place] ?? {}));
  return facts.filter(([, fact]) => !fact()).map(([name]) => name);
}"""


BACK_TO_THE_START = """() => {
  document.activeElement.blur();
  const shown = document.querySelectorAll(".fragment.visible");
  for (const part of shown) part.classList.remove("visible", "current-fragment");
  Reveal.slide(0, 0);
}"""


@pytest.fixture(scope="session")
def decks(built_once, notebooks_run_once):
    def build_all(folder):
        with notebooks_run_once():
            for path in NOTEBOOKS:
                (folder / f"{path.stem}.html").write_text(build.page(path), encoding="utf-8")

    return built_once("decks", build_all)


@pytest.fixture(scope="module")
def show(browser):
    """Opens a page at a size; notes what it complains of and what it asks a network for."""
    contexts = []

    def open_page(address, size=PROJECTOR, **options):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda told: told.type == "error" and page.complaints.append(told.text))
        page.goto(address)
        if size != PHONE:
            until(page, "window.Reveal && Reveal.isReady()")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def open_deck(decks, show):
    """The page of a deck, opened once, at its first slide and at the projector's size."""
    pages = {}

    def open_page(name):
        if name not in pages:
            pages[name] = show((decks / f"{name}.html").as_uri())
        page = pages[name]
        page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
        page.evaluate(BACK_TO_THE_START)
        return page

    return open_page


def jump(page, number):
    for digit in str(number):
        page.keyboard.press(digit)
    page.keyboard.press("Enter")
    until(page, f"(n) => {NUMBER} === n", number)


def until(page, condition, arg=None):
    """Wait until it is so; asked at each frame, as usual, a page would draw sixty a second meanwhile."""
    page.wait_for_function(condition, arg=arg, polling=50)


def swipe(page, x, y, by=0, down=0):
    """A finger's, to the left where `by` is negative, and up where `down` is."""
    finger = page.context.new_cdp_session(page)
    for kind, at in [("Start", 0), *(("Move", part / 8) for part in range(1, 9)), ("End", None)]:
        points = [] if at is None else [{"x": x + at * by, "y": y + at * down}]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    finger.detach()


def number_of(page):
    return page.evaluate(NUMBER)


def slide_with(page, selector, nth=0):
    """The number of the first slide, or of a later one, that holds such an element."""
    found = "(s) => Reveal.getSlides().flatMap((slide, i) => (slide.querySelector(s) ? [i + 1] : []))"
    return page.evaluate(found, selector)[nth]


@cache
def slides_of(name):
    return speaker.slides(nbformat.read(build.NOTEBOOKS / f"{name}.ipynb", as_version=4))


# ------------------------------------------------------------------------------------------------ what is seen


@pytest.mark.parametrize("name", NAMES)
def test_every_slide_fits_has_a_heading_that_does_not_jump_and_can_be_read_from_the_last_row(open_deck, name):
    page = open_deck(name)
    assert page.evaluate("Reveal.getTotalSlides()") == len(slides_of(name))
    assert not page.evaluate("document.getAnimations().some((one) => one instanceof CSSAnimation)"), "nothing moves"
    assert page.evaluate(LOOK_AT_ALL) == []
    assert page.evaluate(SEE, ["hall", name]) == []
    assert page.complaints == [] and all(asked.startswith(("file:", "data:")) for asked in page.asked)


def test_a_plot_of_what_was_measured_can_be_read_whatever_the_machine(open_deck):
    page = open_deck("05_match_pytorch")
    plot = page.locator("img.drawing[alt^='Time on this machine']")
    here = page.evaluate("(img) => Reveal.getSlides().indexOf(img.closest('section')) + 1", plot.element_handle())
    before = plot.evaluate("(img) => img.outerHTML")
    for times in ([0.15, 0.5, 2, 7.8], [0.002, 0.002, 0.002, 0.003], [1, 2, 3, 4], [500, 9e3, 9e4, 3e6]):
        drawn = curves([128, 256, 512, 1024], {"ours": times}, **MEASURED, log_x=True, log_y=True)
        plot.evaluate("(img, html) => (img.outerHTML = html)", build.live.drawing(drawn))
        assert page.evaluate(LOOK_AT_ALL, here) == [], drawn.description
    plot.evaluate("(img, html) => (img.outerHTML = html)", before)


def test_the_numbers_of_a_table_are_as_large_as_the_words_beside_them_and_both_as_there_is_room(open_deck):
    """Sizes in px on every slide that has a table; whether one more would fit; and what prose has elsewhere."""
    sizes = """() => Reveal.getSlides().flatMap((slide) => {
      const table = slide.querySelector(".outputs table:not(.attn-board *)"), body = slide.querySelector(".body");
      const prose = slide.querySelector(".prose"), px = (node) => parseFloat(getComputedStyle(node).fontSize);
      const { h, v } = Reveal.getIndices(slide);
      Reveal.slide(h, v);
      if (!table) return prose ? [[px(prose), null, null]] : [];
      const size = px(table), words = prose ? px(prose) : size;
      body.style.setProperty("--words", `${size + 1}px`);
      const hasRoom = body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1;
      body.style.setProperty("--words", `${size}px`);
      return [[words, size, hasRoom]];
    })"""
    found = [
        tuple(slide)
        for name in ("03_masking", "04_multi_head", "06_bug_clinic")
        for slide in open_deck(name).evaluate(sizes)
    ]
    crowded = {words for words, table, _ in found if table and table < 25}
    assert len(crowded) > 1 and min(crowded) >= 20
    assert {words == table for words, table, _ in found if table} == {True}
    assert not any(room for _, table, room in found if table and table < 25)
    assert {words for words, table, _ in found if not table} == {25}


def test_what_does_not_fit_becomes_smaller_and_then_scrolls(open_deck):
    page = open_deck("06_bug_clinic")
    fitted = """(lines) => {
      const body = Reveal.getCurrentSlide().querySelector(".body"), more = document.createElement("pre");
      more.textContent = "more\\n".repeat(lines);
      body.append(more);
      Reveal.next();
      Reveal.prev();
      const seen = [Number(body.style.zoom), body.style.overflowY];
      more.remove();
      Reveal.next();
      Reveal.prev();
      return [...seen, Number(body.style.zoom), body.style.overflowY];
    }"""
    size, scrolls, *before = page.evaluate(fitted, 0)
    assert [size, ""] == before and not scrolls
    smaller, scrolls, *after = page.evaluate(fitted, 15)
    assert smaller < size and after == before and not scrolls
    smallest, scrolls, *after = page.evaluate(fitted, 60)
    assert smallest < smaller and scrolls == "auto" and after == before


# Of each line of code that is broken: its characters, and how far its rest stands in, in characters.
BROKEN = """() => Reveal.getSlides().flatMap((slide) => {
  const { h, v } = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  for (const part of slide.querySelectorAll(".fragment")) part.classList.add("visible");
  if (slide.querySelector("img")) return [];
  return [...slide.querySelectorAll(".source .line")].flatMap((line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1), first = boxes[0];
    const rest = boxes.filter((box) => box.top > first.bottom - 5).map((box) => box.left);
    const letter = 0.6 * parseFloat(getComputedStyle(line).fontSize) * line.currentCSSZoom * Reveal.getScale();
    return rest.length ? [[line.textContent.trimEnd().length, (Math.min(...rest) - first.left) / letter]] : [];
  });
})"""


def test_a_line_of_code_is_whole_or_too_long_for_any_screen_and_then_its_rest_stands_in(open_deck):
    page = open_deck("10_writing_with_a_memory")
    assert page.locator(".source .line").filter(has_text="rotary(query, seen)").count()
    broken = page.evaluate(BROKEN)
    assert broken and min(length for length, _ in broken) > 105
    assert {round(stands_in) for _, stands_in in broken} == {8}
    page.evaluate(BACK_TO_THE_START)


def test_a_line_of_code_that_a_cell_shows_is_whole_too(open_deck):
    page = open_deck("06_bug_clinic")
    broken = """() => Reveal.getSlides().flatMap((slide) => {
      const { h, v } = Reveal.getIndices(slide);
      if (!slide.querySelector(".outputs pre")) return [];
      Reveal.slide(h, v);
      return [...slide.querySelectorAll(".outputs pre")].filter((pre) => pre.checkVisibility()).flatMap((pre) => {
        const lines = pre.textContent.trimEnd().split("\\n");
        const rows = pre.clientHeight / parseFloat(getComputedStyle(pre).lineHeight);
        const longest = Math.max(...lines.map((line) => line.length));
        return longest > 60 && longest < 85 ? [Math.round(rows) - lines.length] : [];
      });
    })"""
    assert set(page.evaluate(broken)) == {0}


def test_what_is_said_of_a_broad_diagram_stands_below_it_and_of_another_beside_it(open_deck):
    for name, broad in (("10_writing_with_a_memory", True), ("01_by_hand", False)):
        page = open_deck(name)
        jump(page, slide_with(page, ".prose picture"))
        parts = ("picture img", "p:not(:has(img))")
        picture, words = (page.locator(f"{SLIDE}.prose {part}").first.bounding_box() for part in parts)
        assert (words["width"] > picture["width"] - 1) == broad, name
        after = page.locator(f"{SLIDE}.prose:has(picture) > :last-child").bounding_box()
        assert (after["x"] > picture["x"] + picture["width"]) != broad, "all of it"


@pytest.mark.parametrize("size", [HALL, LAPTOP, OLD, (3840, 2160)], ids=str)
def test_other_screens_show_the_same_scaled_and_whole(open_deck, size):
    page = open_deck("01_by_hand")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    scale = min(size[0] / 1280, size[1] / 720)
    until(page, "(scale) => Math.abs(Reveal.getScale() / scale - 1) < 0.01", scale)
    assert page.evaluate(LOOK_AT_ALL) == []


def test_a_phone_held_upright_gets_a_page_to_scroll_in_letters_that_can_be_read(decks, show):
    page = show((decks / "03_masking.html").as_uri(), PHONE, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollHeight") > 5 * PHONE[1]
    assert page.evaluate(SEE, ["phone"]) == []
    sizes = page.locator(".prose p").evaluate_all("(all) => all.map((p) => parseFloat(getComputedStyle(p).fontSize))")
    assert min(sizes) >= 16 and max(sizes) <= 20
    assert page.locator("section section .heading").last.is_visible()
    diagram = page.locator("picture img")
    drawn = diagram.evaluate("(img) => [img.naturalWidth < 510, img.clientWidth / img.naturalWidth]")
    assert drawn[0] and drawn[1] * 19 > 12, "a diagram stands upright"
    assert page.evaluate(COVERED) == []
    page.locator(".heading").nth(3).evaluate("(node) => scrollBy(0, node.getBoundingClientRect().top - 500)")
    before = page.evaluate("scrollY")
    swipe(page, 60, 510, down=-300)
    until(page, "(before) => scrollY > before", before)  # also by a finger on a heading
    cells = page.locator(".attn-board td.cell").evaluate_all("(all) => all.map((cell) => cell.offsetHeight)")
    assert min(cells) >= 44, "a finger hits a cell"
    assert page.locator(".attn-board .hint").evaluate_all(CUT_AT_THE_LEFT) == []
    question = page.locator(".cell.predict").first
    later = question.locator("xpath=following-sibling::*").first
    assert not question.locator(".outputs.saved").is_visible() and not later.is_visible()
    question.get_by_label("The hall's guess").fill("show me")
    for guess in ("91", "92"):
        question.get_by_label("The hall's guess").fill(guess)
        question.get_by_role("button", name="Answer").click()
    question.locator(".outputs.saved").wait_for()
    later.wait_for()
    assert "Try again" not in question.get_by_role("status").first.inner_text(), "what for?"
    line = page.locator(".source .line").first
    assert line.evaluate("(line) => parseFloat(getComputedStyle(line).paddingLeft)") < 20, "there is little room"
    assert 13 <= line.evaluate("(line) => parseFloat(getComputedStyle(line).fontSize)") <= 15
    page.get_by_role("button", name="nobody may hear the future").click()
    until(page, SEEN_FIRST)


# Whether a board stands at the top of the screen.
SEEN_FIRST = """[...document.querySelectorAll(".saved-board")].some(
  (board) => Math.abs(board.getBoundingClientRect().top) < 1
)"""

# Words that begin left of the place they stand in.
CUT_AT_THE_LEFT = """(all) => all.filter((node) => {
  const words = document.createRange();
  words.selectNodeContents(node);
  return words.getBoundingClientRect().left < node.getBoundingClientRect().left - 1;
}).map((node) => node.textContent)"""

# Headings over which something of a cell lies.
COVERED = """() => [...document.querySelectorAll(".heading")].filter((heading) => {
  const { bottom } = heading.getBoundingClientRect();
  const seen = [...heading.parentElement.querySelectorAll(".cell *")].filter((node) => node.checkVisibility());
  return seen.some((node) => node.getClientRects().length && node.getBoundingClientRect().top < bottom - 1);
}).map((heading) => heading.textContent)"""

# Of all colours of such words the least contrast with the ground they stand on.
FAINTEST = """([words, under]) => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
  const colour = (node, name) => light(getComputedStyle(node)[name]);
  const ground = colour(document.querySelector(under), "backgroundColor");
  const nodes = [...document.querySelectorAll(words)];
  return Math.min(...nodes.map((node) => colour(node, "color")).map((c) => Math.max(c, ground) / Math.min(c, ground)));
}"""
CODE, WORDS = [".source :is(pre, .cm-line) span", ".source"], [".heading, .slide-number, .prose a", "body"]


def test_no_line_of_a_plot_hides_behind_its_legend():
    sizes, names = [4, 16, 64, 256, 1024], ("undivided", "divided by √d_k", "divided by d_k")
    for powers, moves in (((1, 0, -1), True), ((0, 0.1, 0.2), False)):
        series = {name: [size**power for size in sizes] for name, power in zip(names, powers, strict=True)}
        figure = curves(sizes, series, title="Variance", xlabel="d_k", ylabel="variance", log_x=True, log_y=True)
        (axes,) = figure.axes
        picture = b64decode(re.search(r'base64,([^"]+)', build.live.drawing(figure))[1])
        assert (b"opacity: 0.9" in picture) != moves, "only among the lines it has a frame"
        below = axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0
        assert below == moves, "where there is room it stands among the lines"
        columns = {round(words.get_window_extent().x0) for words in axes.get_legend().get_texts()}
        assert len(columns) == 1 + moves, "below it is no higher than it must be"
        assert axes.get_legend().get_frame_on() != moves and axes.get_legend().get_texts()[0].get_fontsize() == 12
    assert not build.live.hides_a_line(None), "a picture without a legend"
    around = curves([1, 2, 3, 4, 5], {"ours": [9, 8, 0, 8, 9], "PyTorch's": [8, 7, 0, 7, 8]}, **MEASURED)
    assert not build.live.hides_a_line(around.axes[0].legend(loc="center")), "lines that go around it"


def test_a_drawing_says_how_broad_it_is_and_is_whole():
    for size, shape in (((8, 4), "drawing broad"), ((7.9, 4), "drawing"), ((5.9, 4), "drawing upright")):
        figure = curves([1, 2], {"ours": [1, 2]}, **MEASURED)
        figure.set_size_inches(size)
        figure.text(0.5, -0.5, "below")
        image = BeautifulSoup(build.live.drawing(figure), "html.parser").img
        assert " ".join(image["class"]) == shape
        _, height = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', b64decode(image["src"].partition(",")[2])).groups()
        assert float(height) > 1.4 * 72 * build.live.LARGER * size[1]


def test_dark_and_light_by_the_system_and_by_a_key(decks, show):
    address = (decks / "03_masking.html").as_uri()
    page = show(address, color_scheme="dark")
    assert page.locator(".jump, .python, .help").filter(visible=True).count() == 0, "nothing lies on the first slide"
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(22, 24, 29)"
    assert page.evaluate(FAINTEST, CODE) > 4.5 and page.evaluate(FAINTEST, WORDS) > 4.5
    assert page.evaluate(SEE, ["hall", "03_masking"]) == []
    page.evaluate(BACK_TO_THE_START)
    plate = page.locator(".prose code").first.evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert plate not in ("rgb(22, 24, 29)", "rgba(0, 0, 0, 0)"), "code among words is told from them"
    code = "getComputedStyle(document.querySelector('.source .highlight')).backgroundColor"
    assert page.evaluate(code) == "rgba(0, 0, 0, 0)", "code stands on one ground"
    board = page.locator(".attn-board").first
    assert board.evaluate("(node) => getComputedStyle(node).backgroundColor") == "rgb(22, 24, 29)"
    assert board.evaluate("(node) => getComputedStyle(node).color") == "rgb(242, 242, 242)"
    for picture in page.locator(".prose img, img.drawing").all():
        assert picture.evaluate("(node) => getComputedStyle(node).filter") == "invert(0.91) hue-rotate(180deg)"
    assert page.locator(".prose a").first.evaluate(COLOUR) == "rgb(142, 194, 255)"
    shown = page.locator(".outputs:empty").evaluate_all("(all) => all.map((node) => getComputedStyle(node).display)")
    assert set(shown) == {"none"}, "no room is left for nothing"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ground) == "rgb(255, 255, 255)", "paper is white"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(ground) == "rgb(22, 24, 29)"
    page.keyboard.press("d")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert page.evaluate(FAINTEST, CODE) > 4.5 and page.evaluate(FAINTEST, WORDS) > 4.5
    page.keyboard.press("PageDown")
    page.reload()
    until(page, "window.Reveal && Reveal.isReady()")
    assert page.evaluate(ground) == "rgb(255, 255, 255)" and number_of(page) == 2
    page.goto("about:blank")
    page.goto(address)
    until(page, "window.Reveal && Reveal.isReady()")
    assert number_of(page) == 1, "whoever comes again begins at the beginning"


# How each picture's address begins, its description, and whether it is a cell's output.
PICTURES = """[...document.images].map((img) => [
  img.getAttribute("src").slice(0, 30), img.alt, Boolean(img.closest(".outputs"))
])"""


def test_a_deck_is_one_file_with_described_pictures_and_links_to_the_other_decks(decks, open_deck):
    for name in NAMES:
        page = open_deck(name)
        assert not page.query_selector("link:not([href^='data:']), script[src]")
        assert page.evaluate("document.documentElement.lang") == "en", "so that it is read aloud in English"
        for source, description, drawn in page.evaluate(PICTURES):
            # a plot is to stay sharp at any size
            assert source.startswith("data:image/svg+xml" if drawn else "data:") and len(description) > 20, description
        for link in page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"):
            assert link.startswith(("https://", "#")) or (decks / link.split("#")[0]).is_file()


# Slides of which something lies outside their page.
CUT_ON_PAPER = """() => Reveal.getSlides().flatMap((slide, i) => {
  const page = slide.getBoundingClientRect();
  const outside = [...slide.querySelectorAll(".heading, .cell *")].find((node) => {
    const own = node.getBoundingClientRect();
    if (!own.width || !own.height || node.closest("details:not([open])")) return false;
    return own.left < page.left + 10 || own.top < page.top || own.right > page.right || own.bottom > page.bottom;
  });
  return outside ? [`slide ${i + 1}: ${outside.outerHTML.slice(0, 80)}`] : [];
})"""


def test_on_paper_each_slide_is_a_page_and_answers_stand_at_the_end(open_deck):
    page = open_deck("05_match_pytorch")
    page.set_viewport_size({"width": HALL[0], "height": HALL[1]})  # the sheet is as it is, whatever the screen
    around = dict.fromkeys(("top", "right", "bottom", "left"), "1cm")  # what a browser proposes
    pdf = page.pdf(prefer_css_page_size=True, print_background=True, margin=around)
    assert set(re.findall(rb"/MediaBox\s*\[([^]]*)\]", pdf)) == {b"0 0 960 540"}, "in points"
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    slides = len(slides_of("05_match_pytorch"))
    assert slides < pages <= slides + 3
    sizes = "[...document.querySelectorAll('.heading, .prose p')].map((node) => getComputedStyle(node).fontSize)"
    on_screen = page.evaluate(sizes)
    page.emulate_media(media="print")
    page.evaluate("document.querySelectorAll('.body').forEach((body) => body.removeAttribute('style'))")  # not yet seen
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).printColorAdjust") == "exact"
    assert page.evaluate(sizes) == on_screen
    assert page.evaluate("Reveal.getSlides().every((slide) => slide.querySelector('.body').style.zoom)"), "as large"
    assert page.evaluate(CUT_ON_PAPER) == []
    assert page.evaluate(SEE, ["paper"]) == []
    assert not page.locator(".cell.predict .outputs.saved").first.is_visible()
    assert page.locator(".answers").get_by_text("The answer:").first.is_visible()
    number = "getComputedStyle(document.querySelectorAll('section section')[4], '::after')"
    assert page.evaluate(f"[{number}.content, {number}.display]") == ['"5"', "block"], "answers name slides by them"
    fifth = "getComputedStyle(document.querySelectorAll('section section')[4])"
    assert page.evaluate(f"{fifth}.position") == "relative", "each number stands on its own page"
    answer = page.locator(".answers > div").first
    assert answer.evaluate("(node) => getComputedStyle(node).breakInside") == "avoid"
    steps = page.locator("section section .fragment:not(.waits, .waits *)")
    assert all(step.evaluate("(node) => getComputedStyle(node).visibility") == "visible" for step in steps.all())
    assert page.locator(".answers strong").count() == len(page.query_selector_all(".cell.predict[data-question]"))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator(".answers").is_visible()


def test_a_sentence_leads_to_its_board_and_makes_it_ready(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, "button.try"))
    sentence = page.get_by_role("button", name="nobody may hear the future")
    assert sentence.evaluate("(node) => getComputedStyle(node).borderTopWidth") == "0px", "it is read as a sentence"
    sentence.click()
    until(page, f"(n) => {NUMBER} === n", slide_with(page, ".saved-board"))
    page.get_by_label("weights q0 → k0: 1").wait_for()
    assert not page.locator(SLIDE + "[title='Larger type']").first.is_visible(), "it is large enough"


# ------------------------------------------------------------------------------------------------ what is said


def test_a_slide_shows_a_long_cells_first_sentences_or_those_named_and_the_notes_have_the_rest():
    long = " ".join(f"Sentence number {i} has a few words more than it needs." for i in range(8))
    shown, said = build.shortened(f"{long}\n\n$$x$$\n\n**Predict.** What comes out? Say it.")
    assert (
        shown
        == "Sentence number 0 has a few words more than it needs.\n\n$$x$$\n\n**Predict.** What comes out? Say it."
    )
    assert len(said) == 7 and said[0].startswith("Sentence number 1")
    shown, said = build.shortened(long, ["Sentence number 3", "Sentence number 5"])
    assert re.findall(r"\d", shown) == ["3", "5"] and len(said) == 6
    short = "Five words, nine times over. " * 9
    assert build.shortened(f"{long}\n\n**Bold.** Words.", ["Sentence number 3"])[1][-1] == "**Bold.** Words."
    listed = "1. One thing. And why.\n2. Another. And why."
    assert build.shortened(f"{long}\n\n{listed}")[0].endswith(listed)
    rows = "\n".join(50 * ["| a | b |"])
    with_much = f"One. Two.\n\n{rows}\n\n$${50 * 'x '}$$\n\n![{50 * 'word '}](x.svg)"
    assert build.shortened(with_much) == (with_much, []), "what is no sentence has no words"
    assert build.shortened(short) == (short, []) and build.shortened(f"{short}One more.")[1] == ["One more."]
    assert build.shortened("One.\n\nTwo. Three.", ["Two"]) == ("Two.", ["One.", "Three."])
    sentences = ["One (as here.)", "Two.", "*Three.* `four` is?", "$x$!", "(Six.)", "[Seven](x).", "“Eight.” is 1.5."]
    assert build.SENTENCE.split(" ".join(sentences)) == sentences
    for block in ("$$x$$", "![a](b)", "| a |", "- a", "* a", "2. a", "<b>a</b>", "```\na\n```", "# A"):
        assert not build.is_prose(block), block
    assert all(map(build.is_prose, ("A.", "*A* is.", "-1 is.", "1.5 is.", "$x$ is.")))
    assert build.words_of("a $$x\ny$$ <b class=x>b</b> ![no word](x) c\n| d |\ne") == list("abce")


def test_cells_become_slides_with_headings_numbers_steps_and_what_is_left_to_the_speaker(tmp_path):
    long = " ".join(f"Sentence number {i} has a few words more than it needs." for i in range(8))
    there = "[number 7](03_masking.ipynb#masks)"
    question = {"answer": "The answer: 2", "leaves": [2], "alone": True, "within": 0, "slips": []}
    made = [
        ("markdown", "# Title\n\nText.", "slide", {}),
        ("code", "import math", None, {"slide": []}),
        (
            "markdown",
            "## First\n\nShort.",
            "slide",
            {"speaker": {"minutes": 2, "say": "Say <this>.", "ask": "Who <is>?"}},
        ),
        ("code", "x = 1", None, {}),
        ("markdown", "### Later\n\nOn.", "fragment", {}),
        ("code", "asked", "subslide", {}),
        ("markdown", "It answers.", None, {}),
        ("markdown", "Not on a slide.", "skip", {}),
        ("markdown", f"## Second\n\n{long.replace('few', '*few*').replace('number 7', there)}", "slide", {}),
        ("code", "my_x = ...", None, {"tags": ["blank"]}),
        ("code", "x = 1", None, {}),
        ("markdown", "### Third\n\nOf its own.", "subslide", {}),
        ("code", "y = 2", "subslide", {}),
        ("code", "asked", "fragment", {}),
        ("markdown", "## *Last*", "slide", {}),
        ("code", "z = 3", None, {}),
    ]
    cells = []
    for i, (kind, source, slide, metadata) in enumerate(made):
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        more = {"slideshow": {"slide_type": slide}} if slide else {}
        cells.append(make(source, metadata={**metadata, **more}, id=f"cell-{i}"))
    notebook = nbformat.v4.new_notebook(cells=cells)
    asks = build.live.Shown("The answer: 2", question)
    columns = build.columns_of(notebook, {"cell-5": asks, "cell-13": asks}, tmp_path)
    slides = [slide for column in columns for slide in column]
    assert [len(column) for column in columns] == [1, 2, 3, 1]
    assert [(slide["number"], slide["heading"], slide["level"], slide["continued"]) for slide in slides] == [
        (1, "Title", 1, False),
        (2, "First", 2, False),
        (3, "First", 2, True),
        (4, "Second", 2, False),
        (5, "Third", 3, False),
        (6, "Second", 2, True),
        (7, "<em>Last</em>", 2, False),
    ]
    assert [[part["step"] for part in slide["cells"]] for slide in slides] == [
        [False, False],
        [False, False, True],
        [False, True],
        [False, False, True],
        [False],
        [False, False],
        [False],
    ]
    assert [part.get("unseen") for part in slides[0]["cells"]] == [None, True] and slides[0]["longest"] == 0
    assert slides[1]["longest"] == len("x = 1") + len(" [Run] ") and [slide["from"] for slide in slides] == [
        0,
        0,
        2,
        2,
        2,
        2,
        2,
    ]
    assert [len(slide["answers"]) for slide in slides] == [0, 0, 1, 0, 0, 1, 0]
    assert len(slides[3]["said"]) == 7
    assert slides[3]["said"][0].startswith("Sentence number 1 has a <em>few</em> words")

    nbformat.write(notebook, tmp_path / "small.ipynb")
    deck = BeautifulSoup(build.page(tmp_path / "small.ipynb"), "html.parser")
    settings = json.loads(deck.find(id="settings").string)
    assert [settings["name"], settings["reading"], settings["server"]] == ["small", build.pages.UPRIGHT, None]
    assert settings["sources"] == {cell.id: cell.source for cell in cells if cell.cell_type == "code"}
    assert not deck.select(".answers"), "nothing was asked"
    assert "<h3>Later</h3>" in str(deck.select(".prose.fragment")[0]), "only a slide's own heading stands above it"
    assert deck.title.get_text() == "Title" and "Not on a slide" not in deck.get_text()
    notes = deck.select("aside.notes")
    assert notes[3].a["href"] == "03_masking.html#masks"
    assert notes[0].get_text(" ", strip=True) == "0 min, from 0:00", "nothing to ask, nothing left out"
    assert deck.find("meta", charset="utf-8")
    assert notes[1].get_text(" ", strip=True) == "2 min, from 0:00 Ask: Who <is>? Say <this>."
    assert (
        "Sentence number 7" in notes[3].get_text()
        and "Sentence number 7" not in notes[3].parent.select_one(".body").get_text()
    )


def test_what_a_cell_printed_is_set_smaller_if_it_is_a_broad_table_and_a_widget_leaves_its_words(tmp_path):
    fits, broad, long = 80 * "x", 81 * "x", 200 * "x"
    texts = (f"{long}\nx", f"{broad}\n{broad}", f"{fits}\n{fits}")
    printed = [nbformat.v4.new_output("stream", text=text) for text in texts]
    bar = {build.pages.VIEW: {"model_id": "1"}, "text/plain": "100 steps"}
    listed = {"text/html": "<pre>x</pre>", "text/plain": 100 * "x"}  # the code of a function, in colours
    outputs = [*printed, *(nbformat.v4.new_output("display_data", data) for data in (bar, listed))]
    cells = [nbformat.v4.new_code_cell("x", id=f"cell-{i}", outputs=[output]) for i, output in enumerate(outputs)]
    cells[0].metadata["slideshow"] = {"slide_type": "slide"}
    ((slide,),) = build.columns_of(nbformat.v4.new_notebook(cells=cells), {}, tmp_path)
    assert [part["wide"] for part in slide["cells"]] == [False, True, False, False, False]
    assert slide["longest"] == pytest.approx(1.1 * 100)
    ((alone,),) = build.columns_of(nbformat.v4.new_notebook(cells=cells[:2]), {}, tmp_path)
    assert alone["longest"] == len(broad), "a line that breaks anyway counts for nothing"
    bar = BeautifulSoup(slide["cells"][3]["outputs"], "html.parser")
    (tmp_path / "a.png").write_bytes(b"PNG")
    assert build.data_uri(tmp_path / "a.png") == "data:image/png;base64,UE5H"
    assert bar.get_text(strip=True) == "100 steps" and not bar.select("[class*=input]")


def test_what_a_notebook_shows_is_the_same_in_its_kernel_and_where_a_deck_is_built(notebooks_run_once):
    notebook = nbformat.read(NOTEBOOKS[5], as_version=4)  # which draws nothing: in a drawing there is a date
    found = build.live.run_here(notebook)
    with notebooks_run_once():
        assert build.live.run_here(notebook) == found


def test_building_a_deck_leaves_no_trace_and_goes_on_where_a_cell_fails(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(build.live.progress_file.VARIABLE, str(tmp_path))
    sources = [
        "import os, sys; open('left behind', 'w').close(); print('noise'); print('more', file=sys.stderr)",
        f"open(os.path.join(os.environ[{build.live.progress_file.VARIABLE!r}], 'progress'), 'w').close()",
        "1 / 0",
        "from attn_lib.plots import heatmap; import torch; figure = heatmap(torch.eye(3), list('abc'), title='T')",
        "figure",
        "from attn_lib.explorers import mask_painter",
        "mask_painter()",
        "7",
        "from attn_lib.predict import blank, predict; predict(..., 2)",
        "blank(..., 2)",
        "torch.manual_seed(3); torch.set_num_threads(5); torch.set_printoptions(precision=1)",
        "torch.set_default_dtype(torch.float64)",
    ]
    torchs_own = [lambda: torch.get_rng_state().tolist(), torch.get_num_threads, torch.get_default_dtype]
    torchs_own.append(lambda: str(torch.ones(1) / 3))
    before = [found() for found in torchs_own]
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    found = build.live.run_here(nbformat.v4.new_notebook(cells=cells))
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr() == ("", "")
    assert [found() for found in torchs_own] == before
    assert list(found) == ["cell-4", "cell-6", "cell-8"]
    assert set(found["cell-8"].question) == {"leaves", "alone", "within", "slips"}, "the answer is not in it"
    assert found["cell-8"].question["leaves"] == [2] and "The answer" in found["cell-8"].html
    assert 'class="drawing upright"' in found["cell-4"].html and "saved-board" in found["cell-6"].html
    assert build.script_data("</script>") == '"\\u003c/script>"'
    assert build.live.last_value("# no value", {}) is None
    figure = curves([1, 2], {"ours": [1, 2]}, **MEASURED)
    size = figure.get_size_inches().tolist()
    build.live.drawing(figure)
    assert figure.get_size_inches().tolist() == size, "what is drawn for a slide is as large elsewhere as before"


def test_the_command_writes_every_deck_or_those_that_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "BUILD", tmp_path / "build" / "slides")
    monkeypatch.setattr(build, "page", lambda path: f"the deck of {path.stem} → …")
    assert build.main([str(NOTEBOOKS[2])]) == 0
    assert capsys.readouterr().out == f"{(build.BUILD / NAMES[2]).as_uri()}.html\n"
    assert build.main([]) == 0
    assert [line.rpartition("/")[2] for line in capsys.readouterr().out.split()] == [f"{name}.html" for name in NAMES]
    assert {path.read_text(encoding="utf-8") for path in build.BUILD.iterdir()} == {
        f"the deck of {name} → …" for name in NAMES
    }


def test_behind_a_live_deck_a_guess_has_to_be_given_and_figures_come_for_the_slide(monkeypatch):
    formats = {}
    shell = mock.Mock()
    shell.display_formatter.mimebundle_formatter.for_type = formats.__setitem__
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    with mock.patch.dict(os.environ):
        os.environ.pop(build.live.VARIABLE, None)
        build.live.prepare()
        assert os.environ[build.live.VARIABLE] == "1"
        build.live.bind(False)
        assert build.live.VARIABLE not in os.environ
    figure = curves([1, 2], {"ours": [1, 2]}, **{**MEASURED, "title": '"Here" < there & elsewhere'})
    data, _ = formats[build.live.Figure](figure, include=None, exclude=None)
    assert BeautifulSoup(data["text/html"], "html.parser").img["alt"] == figure.description
    assert '"Here" < there' in figure.description
    assert build.live.Board in formats


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_sentences_that_a_slide_names_stand_in_its_cell(path):
    for cell in nbformat.read(path, as_version=4).cells:
        for beginning in cell.metadata.get("slide", []):
            sentences = [s for block in re.split(r"\n{2,}", cell.source) for s in build.SENTENCE.split(block)]
            assert any(sentence.startswith(beginning) for sentence in sentences), (cell.id, beginning)


def test_slide_numbers_in_the_instructors_guide_are_those_of_the_decks(open_deck):
    guide = (build.NOTEBOOKS / "INSTRUCTORS.md").read_text(encoding="utf-8")
    references = re.findall(r"(\d\d) slide (\d+) \(“([^”]+)”\)", guide)
    assert references
    all_of = "Reveal.getSlides().map((slide) => slide.querySelector('.heading').textContent)"
    headings = {name[:2]: open_deck(name).evaluate(all_of) for name in NAMES}
    for notebook, number, heading in references:
        assert headings[notebook][int(number) - 1] == heading, (notebook, number)


# ------------------------------------------------------------------------------------------------------- guesses


def test_next_shows_what_waits_for_a_guess_step_by_step_to_a_hall_that_gives_up(open_deck):
    page = open_deck("03_masking")
    jump(page, slide_with(page, ".guess"))
    waits = page.locator(SLIDE + ".waits")
    assert waits.count() >= 2
    page.keyboard.press("g")
    for step in range(waits.count()):
        assert [waits.nth(i).is_visible() for i in range(waits.count())] == [i < step for i in range(waits.count())]
        page.keyboard.press("PageDown")
    assert page.evaluate("document.activeElement === document.body"), "the line for the guess was left"


def test_what_was_jumped_over_still_waits_for_its_guess_and_what_was_shown_stays(open_deck):
    page = open_deck("03_masking")
    asked, other = (slide_with(page, ".waits", nth) for nth in (1, 6))
    assert asked < other
    jump(page, other + 1)
    jump(page, asked)
    waits = page.locator(SLIDE + ".waits")
    assert not any(one.is_visible() for one in waits.all())
    page.keyboard.press("PageDown")
    assert waits.first.is_visible()
    jump(page, other + 1)
    jump(page, asked)
    assert waits.first.is_visible()


def test_a_guess_is_answered_in_the_page_with_its_slip_a_second_try_and_then_the_truth(open_deck):
    page = open_deck("01_by_hand")
    jump(page, slide_with(page, ".guess"))
    cell = page.locator(SLIDE + ".cell[data-question]").first
    question = json.loads(cell.get_attribute("data-question"))
    guess, verdict = cell.get_by_label("The hall's guess"), cell.get_by_role("status")
    assert question["slips"], "the first question has known slips"
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    assert verdict.text_content() == "", "nothing was guessed"
    assert guess.evaluate("(node) => getComputedStyle(node).outlineWidth") == "3px"
    sizes = "(node) => [parseFloat(getComputedStyle(node).fontSize) >= 24, getComputedStyle(node).fontWeight]"
    assert guess.evaluate(sizes) == [True, "400"] and verdict.evaluate(sizes) == [True, "600"], "the hall reads both"
    page.keyboard.type(", ".join(f"{x:g}" for x in question["slips"][0]["leaves"]))
    page.keyboard.press("Enter")
    assert verdict.inner_text().startswith("✗") and verdict.inner_text().endswith("Try again.")
    wrong = verdict.evaluate(COLOUR)
    assert BeautifulSoup(question["slips"][0]["says"], "html.parser").get_text() in verdict.inner_text()
    assert not cell.locator(".outputs.saved").is_visible()
    guess.fill("what?")
    page.keyboard.press("Enter")
    assert "could not be read" in verdict.inner_text() and not cell.locator(".outputs.saved").is_visible()
    guess.fill("[" + ", ".join(f"{x:g}" for x in question["leaves"]) + "]")
    page.keyboard.press("Enter")
    assert verdict.inner_text() == "✓ Right." and cell.locator(".outputs.saved").is_visible()
    assert len({wrong, verdict.evaluate(COLOUR), page.locator("body").evaluate(COLOUR)}) == 3
    cell.evaluate(
        """(cell) => {
          const question = JSON.parse(cell.dataset.question);
          question.slips[0].says = "Much is to be said of this. ".repeat(99);
          cell.dataset.question = JSON.stringify(question);
        }"""
    )
    guess.fill(", ".join(f"{x:g}" for x in question["slips"][0]["leaves"]))
    page.keyboard.press("Enter")
    assert "Much is to be said" in verdict.inner_text()
    fits = "(body) => body.scrollHeight <= body.clientHeight + 1 || body.style.overflowY === 'auto'"
    assert page.locator(SLIDE + ".body").evaluate(fits)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body"), "one key leaves the line"
    page.keyboard.press("PageDown")


GUESSES = [
    "yes",
    "No.",
    "True",
    "columns",
    "Column",
    "the keys",
    "0.47",
    "0.44",
    ".47",
    "47 %",
    "47%",
    "300 %",
    "0,47",
    "1/3",
    "−2",
    "nan",
    "-inf",
    "+inf",
    "∞",
    "3",
]
GUESSES += [
    "2, 2, 2",
    "[2, 2, 2]",
    "(2,2,2)",
    "2 2 2",
    "2; 2; 2",
    "3 x 4",
    "3×4",
    "torch.Size([3, 4])",
    "1e-3",
    "",
    "what?",
    "2, 2",
]
TRUTHS = ["yes", "no", "columns", "keys", 0.47, 1 / 3, -2.0, float("nan"), float("-inf"), float("inf"), 3, 0.001]
TRUTHS += [[2.0, 2.0, 2.0], (3, 4)]


def test_the_page_judges_as_predict_does(open_deck):
    from attn_lib.predict import Prediction

    page = open_deck("06_bug_clinic")
    mine = []
    for truth in TRUTHS:
        slips = {"transposed": 47.0, "column": 0.5} if isinstance(truth, float | int) else {}
        mine += [Prediction(guess, truth, 0.01, slips) for guess in filter(None, GUESSES)]
    slips = {"one_product": 1.0, "deviation": 15.8}  # both within the tolerance: the nearer one is meant
    mine += [Prediction(guess, 251.0, 20, slips) for guess in ("5", "12")]
    pairs = [[prediction.for_a_page(), prediction.guess] for prediction in mine]
    answers = page.evaluate("(pairs) => pairs.map((both) => attnGuess.judge(...both))", pairs)
    for prediction, page_says in zip(mine, answers, strict=True):
        assert page_says.get("right", False) == (prediction.status == "right"), (prediction, page_says)
        if prediction.slip:
            assert page_says["says"] in prediction._repr_html_(), (prediction, page_says)


# ---------------------------------------------------------------------------------------------------------- keys


def test_keys_of_a_clicker_work_from_anywhere_and_a_board_keeps_the_others(open_deck):
    page = open_deck("01_by_hand")
    for key, there in (("Space", 2), ("PageDown", 3), ("PageUp", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        until(page, f"(n) => {NUMBER} === n", there)
    board = slide_with(page, ".saved-board input, .saved-board [role=gridcell], .saved-board td")
    jump(page, board)
    page.locator(IN_A_BOARD).first.focus()
    for key in ("3", "Enter", "ArrowRight", "ArrowLeft", "ArrowUp", "b", "."):
        page.keyboard.press(key)
    assert number_of(page) == board and not page.evaluate("Reveal.isPaused()")
    cell = page.locator(SLIDE + ".attn-board td[tabindex='0']").first
    cell.focus()
    here = cell.element_handle()
    page.keyboard.press("ArrowRight")
    inside = "(here) => document.activeElement !== here && document.activeElement.closest('.attn-board') !== null"
    assert page.evaluate(inside, here) and number_of(page) == board, "the board has heard it"
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview()") and number_of(page) == board
    page.locator(SLIDE + ".attn-board button:enabled").first.focus()
    for key in ("b", "n", "ArrowRight"):
        page.keyboard.press(key)
    assert number_of(page) == board and not page.evaluate("Reveal.isPaused()"), "a button's keys are its own too"
    page.locator(IN_A_BOARD).first.focus()
    page.keyboard.press("PageUp")
    assert number_of(page) == board - 1


def test_a_swipe_turns_the_page_and_a_finger_that_drags_a_number_changes_that(open_deck):
    page = open_deck("01_by_hand")
    for by, there in ((-120, 2), (120, 1), (-120, 2)):
        swipe(page, 640, 300, by)
        until(page, f"(n) => {NUMBER} === n", there)
    board = slide_with(page, ".saved-board input")
    jump(page, board)
    number = page.locator(SLIDE + ".attn-board input").first
    before, box = number.input_value(), number.bounding_box()
    swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, -120)
    after = number.input_value()
    assert number_of(page) == board and float(after.replace("−", "-")) < float(before.replace("−", "-"))


def test_after_a_jump_next_and_back_lead_to_the_neighbours_also_where_a_chapter_was_left_in_its_middle(open_deck):
    page = open_deck("01_by_hand")
    chapters = page.evaluate(
        "Reveal.getSlides().flatMap((slide, i) => (Reveal.getIndices(slide).v === 0 ? [i + 1] : []))"
    )
    first = next(one for one, other in itertools.pairwise(chapters[1:]) if other - one > 3)
    jump(page, first + 2)  # a chapter's third slide, which must not be where the chapter goes on
    for start, key, there in ((first - 1, "PageDown", first), (first + 3, "PageUp", first + 2), (1, "Space", 2)):
        jump(page, start)
        page.keyboard.press(key)
        assert number_of(page) == there, f"{key} from slide {start}"


def test_black_overview_help_and_a_jump_that_leads_nowhere(open_deck):
    page = open_deck("01_by_hand")
    for key in ("b", "."):
        page.keyboard.press(key)
        assert page.evaluate("Reveal.isPaused()")
        page.keyboard.press(key)
        assert not page.evaluate("Reveal.isPaused()")
    page.keyboard.press("Escape")
    assert page.evaluate("Reveal.isOverview()")
    page.keyboard.press("Escape")
    assert not page.evaluate("Reveal.isOverview()")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    size = "(node) => parseFloat(getComputedStyle(node).fontSize)"
    assert page.locator(".help td").first.evaluate(size) >= 18 and page.locator(".jump").evaluate(size) >= 36
    page.keyboard.press("7")
    page.get_by_role("button", name="Close").click()
    assert not page.locator(".jump").is_visible(), "what is pressed while the help is open is not the deck's"
    for key in ("Control+7", "Alt+7", "Control+d"):  # these are the browser's
        page.keyboard.press(key)
    assert not page.locator(".jump").is_visible() and not page.locator("html.dark").count()
    assert not page.get_by_role("dialog", name="Keys").is_visible() and number_of(page) == 1
    for key in ("9", "9", "9"):
        page.keyboard.press(key)
    assert page.locator(".jump").inner_text() == "Slide 999"
    page.keyboard.press("Enter")
    assert number_of(page) == 1 and not page.locator(".jump").is_visible()
    for key in ("4", "2", "Backspace"):
        page.keyboard.press(key)
    assert page.locator(".jump").inner_text() == "Slide 4"
    page.keyboard.press("Escape")
    assert number_of(page) == 1 and not page.locator(".jump").is_visible()
    jump(page, 3)
    assert "".join(page.locator(".slide-number").inner_text().split()) == f"3/{len(slides_of('01_by_hand'))}"
    assert page.locator(".slide-number").bounding_box()["x"] < 20, "at the right are arrows, and what Python does"
    until(page, "location.hash.startsWith('#/')")  # a slide has an address


def test_a_key_pressed_while_the_help_is_closing_is_the_decks(open_deck):
    """The button of the closed help keeps the focus until the next frame, which may be late on a busy machine."""
    page = open_deck("01_by_hand")
    page.keyboard.press("?")
    page.evaluate(
        """() => {
          const help = document.querySelector(".help");
          help.close();
          const key = new KeyboardEvent("keydown", { key: "7", bubbles: true, cancelable: true });
          help.querySelector("button").dispatchEvent(key);
        }"""
    )
    assert page.locator(".jump").inner_text() == "Slide 7"
    page.keyboard.press("Escape")


def test_the_speaker_view_has_notes_question_next_slide_and_pace_and_drives(live_deck):
    page = live_deck
    here = page.evaluate("Reveal.getSlides().findIndex((slide, i) => i && !slide.querySelector('.fragment')) + 1")
    jump(page, here)
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    view = opened.value
    notes = view.locator(".speaker-controls-notes")
    said = [cell.metadata["speaker"]["say"] for cell in slides_of("07_how_attention_learns")]
    notes.filter(has_text=said[here - 1]).wait_for()
    view.locator(".pacing").wait_for()
    for copy in ("current", "upcoming"):  # which are slides, however small, and only look on
        shown = view.frame_locator(f"#{copy}-slide iframe")
        shown.locator("section.present > section.present .heading").wait_for()
        assert shown.locator("body.reading, .cm-editor").count() == 0 < shown.locator(".source .line").count()
    view.keyboard.press("PageDown")
    until(page, f"(n) => {NUMBER} === n", here + 1)
    notes.filter(has_text=said[here]).wait_for()
    jump(page, 5)
    notes.filter(has_text=said[4]).wait_for()
    view.close()


def test_every_slide_has_its_planned_seconds(open_deck):
    for name in NAMES:
        seconds = open_deck(name).evaluate("Reveal.getSlides().map((slide) => Number(slide.dataset.timing))")
        assert seconds == [int(60 * speaker.notes_of(cell)["minutes"]) for cell in slides_of(name)]


# ------------------------------------------------------------------------------------------------ with a kernel


def test_what_a_live_deck_takes_from_others_was_bundled_from_its_source():
    """`npm run build` in authors/deck notes what it bundled as git names it."""
    made_of = "".join(
        (build.HERE / name).read_text(encoding="utf-8") for name in ("kernel.js", "package.json")
    ).encode()
    name = hashlib.sha1(b"blob %d\0%b" % (len(made_of), made_of)).hexdigest()
    assert (build.HERE / "kernel.bundle.js").read_text(encoding="utf-8").splitlines()[-1] == f"// of {name}"


@contextmanager
def presenting(folder):
    """What `course.py present` starts; yields the address of its decks and the server."""
    port = SystemRandom().randrange(10_000, 30_000)
    options = ["--no-browser", "--allow-root", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    arguments = [str(NOTEBOOKS[2]), *options, "--IdentityProvider.token=test"]
    arguments += [
        "--KernelRestarter.time_to_dead=0.5"
    ]  # looks every half second, not every third, whether Python lives
    with warm.server(serve.main, arguments, folder / "server.log") as server:
        wait_for(f"http://127.0.0.1:{port}", server.is_alive, folder / "server.log")
        yield f"http://127.0.0.1:{port}/deck/", server


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with presenting(tmp_path_factory.mktemp("presenting")) as found:
        yield found


@pytest.fixture(scope="module")
def live_deck(show, served):
    """The page of a deck with a kernel, for what begins on any slide."""
    page = show(served[0] + "07_how_attention_learns?token=test")
    until(page, READY)
    return page


def run_seen(page, key="Shift+Enter", press=None):
    """Press the key, or do what else runs a cell, and wait until what it ran has been shown."""
    before = page.evaluate("document.documentElement.dataset.runs ?? 0")
    (press or page.keyboard.press)(*([] if press else [key]))
    until(
        page,
        "(n) => Number(document.documentElement.dataset.runs) > Number(n) && !document.querySelector('.running')",
        before,
    )


def as_if_the_server_listened_late(page):
    """From the page's next load on: while `.now` of what it returns, a new Python is not heard till asked twice.

    `.runs`: how often code was sent to be run.
    """
    late = SimpleNamespace(now=False, runs=0)

    def between(socket):
        server, needed, asked = socket.connect_to_server(), 2 if late.now else 0, []

        def sends(message):
            late.runs += b'"execute_request"' in message
            asked.extend([message] * (b"kernel_info_request" in message))
            server.send(message)

        socket.on_message(sends)
        server.on_message(lambda said: (len(asked) < needed and b'"status"' in said) or socket.send(said))

    page.route_web_socket(re.compile("/channels"), between)
    return late


def type_into_the_first_cell(page, text, at="End"):
    page.locator(SLIDE + ".cm-content").first.focus()
    page.keyboard.press(f"Control+{at}")
    page.keyboard.insert_text(text)


def test_without_the_token_nothing_is_served(served):
    with urllib.request.urlopen(served[0] + "01_by_hand") as answer:
        assert "/login" in answer.url and "Reveal" not in answer.read().decode()
    heard = [found.laddr.ip for found in psutil.Process(served[1].pid).net_connections() if found.status == "LISTEN"]
    assert heard and set(heard) == {"127.0.0.1"}


def test_the_server_opens_the_notebook_that_was_named_and_knows_no_other_file(served):
    root = served[0].removesuffix("deck/")
    with urllib.request.urlopen(f"{root}?token=test") as answer:
        assert answer.url.split("?")[0] == served[0] + "03_masking"
    with urllib.request.urlopen(f"{served[0]}03_masking.html?token=test") as answer:
        assert "Reveal" in answer.read().decode(), "decks lead to each other by the names of their files"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(served[0] + "07_no_such?token=test")


def test_a_deck_is_made_once_and_again_when_its_notebook_has_changed(monkeypatch, tmp_path):
    made, sent, settings = [], [], {"protocol": "http", "host": "here:1"}
    monkeypatch.setattr(build, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(build, "page", lambda path, server: made.append((path.name, server)) or len(made))
    who = SimpleNamespace(token="secret")
    asked = SimpleNamespace(made={}, request=SimpleNamespace(**settings), base_url="/", identity_provider=who)
    asked.finish = sent.append
    (tmp_path / "a.ipynb").touch()
    for time in (5, 5, 6):
        os.utime(tmp_path / "a.ipynb", (time, time))
        serve.DeckHandler.get.__wrapped__(asked, "a")
    assert sent == [1, 1, 2] and made == 2 * [("a.ipynb", {"baseUrl": "http://here:1/", "token": "secret"})]


def test_a_lecture_is_heard_on_this_machine_alone_whatever_the_lecturers_settings_say(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "before")
    app = mock.Mock(base_url="/hub/")
    monkeypatch.setattr(serve.ServerApp, "instance", lambda: app)
    serve.main([str(NOTEBOOKS[0]), "--port=1"])
    (arguments,) = app.initialize.call_args.args  # which count for more than a file of settings
    assert app.initialize.call_args.kwargs == {"find_extensions": False}, "what else is installed is not loaded"
    _, [(address, _)] = app.web_app.add_handlers.call_args.args
    assert re.fullmatch(address, "/hub/deck/03_masking") and not re.fullmatch(address, "/deck/03_masking")
    assert "--ServerApp.ip=127.0.0.1" in arguments and arguments[-1] == "--port=1"
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(serve.ROOT), "before"]
    monkeypatch.delenv("PYTHONPATH")
    serve.main([str(NOTEBOOKS[0])])
    assert os.environ["PYTHONPATH"] == str(serve.ROOT)


NOTHING_SAID = "document.querySelector('.python').hidden && document.documentElement.dataset.status === 'idle'"

# Which clocks of the deck's own still go.
CLOCKS = """
  const { setInterval: begin, clearInterval: end } = window;
  window.clocks = new Map();
  window.setInterval = (call, ...given) => {
    const clock = begin(call, ...given);
    clocks.set(clock, String(call));
    return clock;
  };
  window.clearInterval = (clock) => { clocks.delete(clock); end(clock); };
"""

GOING = "[...clocks.values()].filter((done) => /busy|requestKernelInfo/.test(done))"

SHOWS_ALL_KINDS = """
import os; print("here", 6 * 7, os.path.basename(os.getcwd()), flush=True); print("there")
from IPython.display import HTML, SVG, Image, display
display(HTML("<b>bold</b>"), SVG("<svg><circle r='5'/></svg>"), Image(b"PNG", format="png"))
"the last"
"""

IN_ONE_LINE = """
class Missing(ImportError):
    _render_traceback_ = lambda self: ["\\x1b[31mNo module named 'not_there'\\x1b[0m"]

raise Missing
"""

ASKS = f"""
import os
print("a guess is asked for" if {build.live.VARIABLE!r} in os.environ else "answers are shown at once")
"""


def test_a_lecture_of_notebook_3_with_keys_alone(show, served):
    address, server = served
    others = {kernel.pid for kernel in warm.kernels_of(server.pid)}
    own_kernels = lambda: [kernel for kernel in warm.kernels_of(server.pid) if kernel.pid not in others]  # noqa: E731
    page = show(address + "03_masking?token=test")
    assert page.title().startswith("3.")
    code, shown, said = (page.locator(SLIDE + part) for part in (".cm-content", ".outputs.shown", ".error"))
    python = page.locator(".python")

    # Shift+Enter, pressed while Python starts too, runs, stays until the output was seen, and then goes on
    first = slide_with(page, ":scope:not(:has(.fragment)) .cell.code > .outputs.saved:not(:empty)")
    jump(page, first)
    assert not page.locator(SLIDE + ".outputs.to-come").first.is_visible()
    for _ in range(page.locator(SLIDE + ".cell.code:not(.fragment)").count()):
        run_seen(page)
        assert number_of(page) == first
    assert "".join(shown.all_inner_texts()).strip()
    until(page, NOTHING_SAID)
    assert page.locator(SLIDE + ".code:not(.fragment) > .saved").count() == 0, "no room is kept for what came"
    for _ in range(page.locator(SLIDE + ".fragment:not(.visible)").count() + 1):
        page.keyboard.press("Shift+Enter")
    until(page, f"(n) => {NUMBER} === n + 1", first)

    # a wrong guess is answered by predict itself, with its slip or what differs; the right one shows what follows
    question = slide_with(page, ".guess")
    jump(page, question)
    cell = page.locator(SLIDE + ".cell[data-question]").first
    asked = json.loads(cell.get_attribute("data-question"))
    page.keyboard.press("g")
    page.keyboard.type("12345")
    run_seen(page, "Enter")
    said_of_it, waiting = cell.locator(".outputs.shown").inner_text(), page.locator(SLIDE + ".waits").all()
    assert "✗" in said_of_it and "The answer" not in said_of_it
    assert len(waiting) > 1 and not any(part.is_visible() for part in waiting), "what is right is not shown yet"
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("Control+a")
    page.keyboard.type(", ".join(str(x) if isinstance(x, str) else f"{x:g}" for x in asked["leaves"]))
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")  # which runs what waits for it first: a guess
    cell.locator(".outputs.shown", has_text="✓").wait_for()
    page.locator(SLIDE + ".cell.waits").first.wait_for()  # what follows the answer
    page.keyboard.press("Escape")

    # an error is said in one line, and mended in place; what was typed survives a reload
    assert number_of(page) == question
    stale = page.locator(SLIDE + ".code.stale > .source")
    assert stale.count() == 0
    type_into_the_first_cell(page, "\nnot_there")
    assert stale.first.evaluate("(node) => getComputedStyle(node).borderLeftStyle") == "dashed"
    run_seen(page, press=page.locator(SLIDE + ".run").first.click)
    assert number_of(page) == question and stale.count() == 0
    assert "NameError: name 'not_there' is not defined" in said.first.inner_text()
    assert said.first.evaluate(COLOUR) != page.locator("body").evaluate(COLOUR)
    assert not said.first.locator("pre").is_visible()
    said.first.get_by_text("where").click()
    where = said.first.locator("pre")
    assert "----> " in where.inner_text() and "\x1b" not in where.inner_text()
    assert where.locator("[class*=ansi]").count(), "in colours"
    fits = "(body) => body.scrollHeight <= body.clientHeight + 1 || body.style.overflowY === 'auto'"
    until(page, f"() => ({fits})(document.querySelector('{SLIDE}.body'))")
    page.keyboard.press("Escape")
    page.add_init_script(CLOCKS)
    late = as_if_the_server_listened_late(page)
    page.reload()
    until(page, READY)
    assert number_of(page) == question
    assert "not_there" in code.first.inner_text() and "NameError" in shown.first.inner_text()
    assert page.locator(".outputs.shown:not(:empty)").count() > 1, "what was said on other slides is there too"
    assert len(own_kernels()) == 1, "the same kernel goes on"
    for there in (False, True, False):
        page.keyboard.press("o")
        assert ("not_there" in code.first.inner_text()) == there

    # an endless loop is said to be busy, and interrupted with one key
    type_into_the_first_cell(page, "import time\nwhile True: time.sleep(0.01)\n", at="Home")
    page.keyboard.press("Control+Enter")
    page.get_by_text(re.compile(r"^Python is busy, \d{1,2} s\. i interrupts it\.$")).wait_for()
    assert late.runs == 1, "what was run before the page was loaded again is not run once more"
    assert len({source.evaluate(BORDER) for source in page.locator(SLIDE + ".source").all()}) > 1
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    said.filter(has_text="KeyboardInterrupt").wait_for()
    until(page, NOTHING_SAID)
    assert page.evaluate(GOING) == [], "nothing will be said later"

    # Python dies while a cell runs: it is said, the slide stays, u runs everything up to here
    until(page, "document.documentElement.dataset.status === 'idle'")
    page.locator(SLIDE + ".cm-content").first.focus()
    page.keyboard.press("Control+Enter")
    page.locator(SLIDE + ".running").wait_for()
    until(page, "document.documentElement.dataset.status === 'busy'")
    page.keyboard.press("Control+Enter")  # which waits, and ends too
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    late.now = True
    own_kernels()[0].kill()
    page.locator(".python.trouble").wait_for()
    assert python.inner_text().startswith("Python was restarted")
    assert page.evaluate(FAINTEST, [".python", ".python"]) > 4.5
    until(page, "document.documentElement.dataset.status === 'idle'")
    late.now = False
    assert python.inner_text().startswith("Python was restarted"), "it stays said"
    assert number_of(page) == question and page.locator(".running").count() == 0 and said.count() == 0
    stale.first.wait_for()  # what is shown is of another Python
    words = "Reveal.getSlides().findIndex((slide, i) => i >= n && !slide.querySelector('.code')) + 1"
    jump(page, page.evaluate(f"(n) => {words}", question))
    page.keyboard.press("u")  # also where no cell stands
    until(page, NOTHING_SAID)
    jump(page, question)
    assert said.all_inner_texts() == [] and stale.count() == 0
    assert page.evaluate(GOING) == [], "nobody is asked any more"

    # a board made by running its cell is alive in the slide, and a jump runs what it needs first
    board = slide_with(page, ".saved-board")
    jump(page, board)
    assert page.locator(SLIDE + ".attn-board").first.is_visible(), "alive before its run"
    page.keyboard.press("Shift+Enter")
    page.locator(SLIDE + ".outputs.shown .attn-board").wait_for()
    questions = page.locator(".cell[data-question]")
    answered = questions.locator(".outputs.shown:not(:empty)").count()
    assert answered == 1 and questions.locator(".outputs.saved").count() == questions.count() - 1, "nobody was asked"

    # a restart keeps what was typed, forgets what was run and ends what runs and what waits behind it
    jump(page, first)
    code.first.focus()
    page.evaluate("(text) => document.activeElement.closest('.cell').write(text)", SHOWS_ALL_KINDS)
    run_seen(page)
    page.get_by_text("here 42 notebooks").wait_for()
    mine = page.locator(SLIDE + ".cell:focus-within > .outputs.shown").first
    assert mine.locator(".stream pre").all_inner_texts()[-1].splitlines()[-2:] == ["here 42 notebooks", "there"]
    assert mine.locator("svg circle").count() == 1 and mine.locator("b").inner_text() == "bold"
    assert mine.locator("img").last.get_attribute("src") == "data:image/png;base64,UE5H"
    assert mine.locator("pre").last.inner_text() == "'the last'"
    page.keyboard.press("Shift+Enter")
    assert page.evaluate("document.activeElement === document.body"), "what was seen is not run again"
    jump(page, first)
    type_into_the_first_cell(page, "\nimport time; time.sleep(600)")
    page.keyboard.press("Control+Enter")
    mine.locator("b").wait_for()
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
    assert "6 * 7" in code.first.inner_text() and page.locator(".running").count() == 0
    assert page.evaluate("JSON.parse(sessionStorage['deck:03_masking:session']).ran") == []
    assert page.evaluate("sessionStorage['deck:03_masking:outputs']") == "{}", "nor shown after a reload"
    assert stale.count() == page.locator(SLIDE + ".outputs.shown:not(:empty)").count() > 0

    # an error on the way is said with its slide, and is shown, of imports too
    file = page.evaluate("document.querySelector('.code.unseen').source()")
    page.evaluate("(text) => document.querySelector('.code.unseen').write(text)", IN_ONE_LINE)
    page.keyboard.press("u")
    python.filter(has_text="stopped").wait_for()
    imports = slide_with(page, ".code.unseen, .code:has(.error)")
    assert python.inner_text() == f"Python runs all up to here and stopped at slide {imports}: there is an error."
    jump(page, imports)
    assert said.first.is_visible() and said.first.inner_text() == "No module named 'not_there'"
    page.evaluate("(text) => document.querySelector('.code:has(.error)').write(text)", ASKS + file)
    page.locator(SLIDE + ".code:has(.error) .cm-content").focus()
    run_seen(page, "Control+Enter")
    until(page, NOTHING_SAID)
    assert said.count() == 0
    assert shown.filter(has_text="a guess is asked for").count() == 1, "also after an error"

    # Shift+Enter runs no cell that is not seen yet: it comes first
    page.keyboard.press("Escape")
    steps = slide_with(page, ".code:not(.unseen) ~ .code.fragment:not(.waits)")
    jump(page, steps)
    hidden = page.locator(SLIDE + ".code.fragment:not(.waits)").first
    assert not hidden.is_visible()
    for _ in range(page.locator(SLIDE + ".cell.code:not(.fragment)").count()):
        run_seen(page)
    page.keyboard.press("Shift+Enter")
    ran = page.evaluate("JSON.parse(sessionStorage['deck:03_masking:session']).ran")
    assert hidden.is_visible() and ran and hidden.get_attribute("data-id") not in ran
    unanswered = "Canceled future for kernel_info_request"  # the library's own, which nobody heard
    assert [told for told in page.complaints if not told.startswith(unanswered)] == []


def test_a_clicker_shows_the_answer_after_a_run_without_a_guess_and_after_a_wrong_one(show, served):
    page = show(served[0] + "03_masking?token=test")
    until(page, READY)
    jump(page, slide_with(page, ".guess"))
    cell = page.locator(SLIDE + ".cell[data-question]").first
    missing, answer = cell.get_by_text("Your guess first"), cell.get_by_text("The answer:")
    while not missing.is_visible():  # and what stands above it on the slide
        run_seen(page)
    assert missing.inner_text().startswith("Your guess first") and not answer.is_visible()
    page.keyboard.press("PageDown")
    assert answer.is_visible() and not missing.is_visible()
    page.keyboard.press("PageUp")
    assert missing.is_visible() and not answer.is_visible()
    cell.evaluate("(cell) => cell.write(cell.source().replace('...', '...  # whatever'))")
    page.keyboard.press("g")
    page.keyboard.type("(−12345)")
    run_seen(page, "Enter")
    assert "guess = (-12345)  # whatever" in cell.locator(".cm-content").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")  # which goes on too, since this guess was answered
    assert cell.get_by_text("✗").is_visible() and answer.is_visible()
    page.reload()
    until(page, READY)
    assert cell.get_by_text("✗").is_visible()
    page.keyboard.press("g")
    page.keyboard.type("show")
    run_seen(page, "Enter")
    assert answer.count() == 1, "Python has said it"
    page.reload()
    until(page, READY)
    assert answer.count() == 1
    written = cell.evaluate(WRITTEN, [*AS_IT_IS, *IN_QUOTES])
    assert written == [f"guess = {guess}  # why" for guess in (*AS_IT_IS, *map(json.dumps, IN_QUOTES))]


AS_IT_IS = [
    "True",
    "None",
    "'tea'",
    '"a b"',
    "0.47",
    "-2",
    ".5",
    "3.",
    "1e-3",
    "[1, 0, 2]",
    "(2,3)",
    "[[1, 2], [3, 4]]",
]
IN_QUOTES = ["tea", "-inf", "47 %", "0,47", "1/3", "2, 2, 2", "3 x 4", "[2 2]", "torch.Size([3, 4])", "05", ".", "(3"]

# What each guess becomes in the cell; it is not run.
WRITTEN = """(cell, guesses) => guesses.map((guess) => {
  const form = cell.querySelector("form.guess"), written = [];
  cell.source = () => "guess = ...  # why";
  cell.write = (source) => written.push(source);
  form.querySelector("input").value = guess;
  form.requestSubmit();
  return written[0];
})"""


def test_next_shows_what_is_not_run_as_it_was_saved_unless_the_code_is_another(live_deck):
    page, saved = live_deck, live_deck.locator(SLIDE + ".saved:not(:empty, :has(.saved-board))")
    plain = [slide_with(page, ":scope:not(:has(.fragment)) .to-come:not(:empty)", nth) for nth in range(4)]
    arrow = page.locator(".navigate-right").click
    for slide, go_on in zip(plain, [*(lambda key=key: page.keyboard.press(key) for key in NEXT), arrow], strict=True):
        jump(page, slide)
        assert saved.count() and not any(output.is_visible() for output in saved.all())
        go_on()
        assert number_of(page) == slide and all(output.is_visible() for output in saved.all())
        go_on()
        until(page, f"(n) => {NUMBER} === n + 1", slide)
    late = page.locator(SLIDE + ".code.fragment > .saved:not(:empty)").first
    jump(page, slide_with(page, ".code.fragment > .to-come:not(:empty)", -1))
    assert not late.locator("..").is_visible()
    while not late.locator("..").is_visible():
        page.keyboard.press("PageDown")
    assert not late.is_visible(), "its code comes first"
    swipe(page, 640, 20, -120)
    late.wait_for()
    changed = slide_with(page, ":scope:not(:has(.fragment, .code ~ .code)) .to-come:not(:empty)")
    jump(page, changed)
    assert not saved.first.is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("PageDown")
    assert number_of(page) == changed + 1, "in the overview next is the next slide"
    page.keyboard.press("Escape")
    jump(page, changed)
    type_into_the_first_cell(page, "  # another")
    page.keyboard.press("PageDown")
    assert not saved.first.is_visible()
    jump(page, changed)
    page.keyboard.press("o")
    page.keyboard.press("PageDown")
    assert saved.first.is_visible()


def test_run_lies_on_no_code_however_long_the_first_line_and_code_can_be_read(live_deck):
    """The button stands at the end of the first line, which is broken before it."""
    page = live_deck
    lengths = page.evaluate(
        """() => Reveal.getSlides().map((slide) => {
          const first = [...slide.querySelectorAll(".cm-line:first-child")];
          return Math.max(0, ...first.map((line) => line.textContent.length));
        })"""
    )
    assert max(lengths) > 90
    jump(page, lengths.index(max(lengths)) + 1)
    gaps = page.locator(SLIDE + ".source").evaluate_all(
        """(sources) => sources.map((source) => {
          const line = document.createRange(), run = source.querySelector(".run").getBoundingClientRect();
          line.selectNodeContents(source.querySelector(".cm-line"));
          const beside = [...line.getClientRects()].filter((text) => text.top < run.bottom && text.bottom > run.top);
          return run.left - Math.max(...beside.map((text) => text.right));
        })"""
    )
    assert min(gaps) >= 0 and max(gaps) < 1280, gaps
    for _ in ("light", "dark"):
        assert page.evaluate(FAINTEST, CODE) > 4.5
        assert page.evaluate(SEE, ["live"]) == []
        page.keyboard.press("d")


def test_code_is_edited_as_in_a_notebook(live_deck):
    page = live_deck
    jump(page, slide_with(page, ".code:not(.unseen, [data-question]) .cm-content"))
    cell, editor = page.locator(SLIDE + ".cell.code").first, page.locator(SLIDE).get_by_label("Code").first
    written, typed = (
        lambda: cell.evaluate("(cell) => cell.source()"),
        "localStorage['deck:07_how_attention_learns:typed']",
    )
    file = written()
    page.locator(SLIDE + ".cm-content").first.focus()
    for key in ("Control+Home", "Enter", "ArrowUp"):
        page.keyboard.press(key)
    for line in ("class Two:", "def one(x):"):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    page.keyboard.type("return [1, 'two', None]  # three")
    assert written() == f"class Two:\n    def one(x):\n        return [1, 'two', None]  # three\n{file}"
    wanted = {"k": ["class", "def"], "nf": ["Two", "one"], "m": ["1", "None"], "s": ["'two'"], "c": ["# three"]}
    for kind, words in wanted.items():
        assert editor.locator(f".{kind}").all_inner_texts()[: len(words)] == words
    for _ in "  # three":
        page.keyboard.press("ArrowLeft")
    assert editor.locator(".cm-matchingBracket").all_inner_texts() == ["[", "]"]
    page.keyboard.press("Tab")
    assert written().splitlines()[2].startswith(12 * " ")
    assert page.evaluate(typed).count("def one") == 1, "it is kept"
    while written() != file:
        before = written()
        page.keyboard.press("Control+z")
        assert written() != before
    assert page.evaluate(typed) == "{}", "as in the file"
    page.keyboard.press("Escape")


def test_where_python_cannot_be_reached_it_is_said_and_one_key_tries_again(live_deck):
    page, python = live_deck, live_deck.locator(".python.trouble")
    heard, asked = [], []

    def between(socket):
        asked.append(socket.url)
        server = socket.connect_to_server()
        server.on_message(lambda said: (b'"idle"' in said and heard.append((socket, said)), socket.send(said)))

    page.route_web_socket(re.compile("/channels"), between)
    page.route("**/api/**", lambda route: route.abort())
    page.reload()
    python.filter(has_text="Python cannot be reached: ").wait_for()
    page.keyboard.press("r")
    python.filter(has_text="Python does not start again: ").wait_for()
    page.unroute("**/api/**")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
    assert page.evaluate(READY) and python.count() == 0
    socket, idle = heard[-1]
    socket.send(idle.replace(b'"idle"', b'"dead"'))  # as the server says of a Python that dies whenever it begins
    python.filter(has_text="Python has died. r starts it again").wait_for()
    assert asked and all("token=test" in address for address in asked), "for browsers that keep no cookie"
    page.evaluate("document.querySelector('.python').textContent = ''")
    jump(page, slide_with(page, ".cm-content"))
    page.keyboard.press("Control+Enter")
    python.filter(has_text="Python has died. r starts it again").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.get_by_text("Python has started again").wait_for()
