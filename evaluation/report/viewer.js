"use strict";

// The games of the report: a list to filter and sort, and a viewer to step through one of them.
// Data come from strangers: they only ever become text nodes and attribute values.

const PAGE_ROWS = 50;
const SYMBOLS = ["✕", "○"];
const SIDES = ["x", "o"];

const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);

/** An element with attributes and children; those of `svg` for pictures. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Says whether a button has an effect. One that is truly disabled would lose the focus, and keys with it. */
function enable(id, useful) {
  find(id).setAttribute("aria-disabled", String(!useful));
}

/** A time in milliseconds in words of two digits. */
function duration(ms) {
  const [value, unit] = ms >= 999.5 ? [ms / 1000, "s"] : ms >= 0.9995 ? [ms, "ms"] : [ms * 1000, "µs"];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

/** A name that may go on in a second line behind a punctuation mark. */
function breakable(name) {
  return name.match(/[^_:/.,=-]*[_:/.,=-]*/g).flatMap((part) => (part ? [part, document.createElement("wbr")] : []));
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// ---------------------------------------------------------------- a game

/** A game of the data with what follows from its moves. Plies are numbers of discs on the board. */
class Game {
  constructor(entry) {
    this.entry = entry;
    [this.rows, this.columns, this.inarow] = data.boards[entry.board];
    const first = data.firstColumn.charCodeAt(0);
    this.moves = Array.from(entry.moves, (letter) => letter.charCodeAt(0) - first);
    this.end = this.moves.length;
    this.names = entry.agents.map((agent) => data.agents[agent]);
    this.mistakes = entry.mistakes ?? [null, null];
    this.mistake = Math.min(...this.mistakes.map((ply) => ply ?? Infinity));
  }

  /** The cells at `ply`, from the bottom left, row by row: 0 empty, 1, 2; and how high the columns are. */
  position(ply) {
    const cells = new Array(this.rows * this.columns).fill(0);
    const heights = new Array(this.columns).fill(0);
    for (let at = 0; at < ply; at++) {
      const column = this.moves[at];
      cells[heights[column]++ * this.columns + column] = (at % 2) + 1;
    }
    return { cells, heights };
  }

  /** The exact score of each column for the side to move, null for a full one; null if not solved. */
  scores(ply) {
    const text = this.entry.scores?.slice(ply * this.columns, (ply + 1) * this.columns);
    if (!text || text.includes(data.notSolved)) return null;
    const zero = Math.floor(data.digits.length / 2);
    return Array.from(text, (digit) => (digit === data.fullColumn ? null : data.digits.indexOf(digit) - zero));
  }

  /** The score of the position for the first mover, null if it is not known. */
  value(ply) {
    const turned = (side, score) => (side ? -score : score) || 0;
    if (ply === this.end && this.entry.ending === "full") return 0;
    if (ply === this.end && this.entry.ending === "line") {
      const before = this.scores(ply - 1);
      return before && turned((ply - 1) % 2, before[this.moves[ply - 1]]);
    }
    const scores = this.scores(ply);
    return scores && turned(ply % 2, best(scores));
  }

  /** How good the move at `ply` was: "best", "kept" (the value), "lost" (a mistake); null if not known. */
  judgement(ply) {
    const scores = ply < this.end && ply >= this.entry.opening ? this.scores(ply) : null;
    if (!scores) return null;
    const played = scores[this.moves[ply]];
    if (played === best(scores)) return "best";
    return Math.sign(played) === Math.sign(best(scores)) ? "kept" : "lost";
  }

  /** A score of the side to move in words: the wins and losses count that side's and the other's moves. */
  words(score, ply) {
    if (score === 0) return "draw";
    const left = this.rows * this.columns - ply;
    const discs = score > 0 ? Math.ceil(left / 2) : Math.floor(left / 2);
    const moves = discs - Math.abs(score) + 1;
    return `${score > 0 ? "wins" : "loses"} in ${plural(moves, "move")}`;
  }

  /** The milliseconds of the move at `ply`, of the call that forfeited at the end; undefined if not known. */
  milliseconds(ply) {
    return this.entry.ms?.[ply - this.entry.opening];
  }

  /** The cells of lines through the last disc, if the game was won so. */
  line() {
    const found = new Set();
    if (this.entry.ending !== "line") return found;
    const { cells, heights } = this.position(this.end);
    const column = this.moves[this.end - 1];
    const row = heights[column] - 1;
    const mark = cells[row * this.columns + column];
    const at = (r, c) => (r >= 0 && r < this.rows && c >= 0 && c < this.columns ? cells[r * this.columns + c] : 0);
    for (const [up, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
      const run = [];
      let [r, c] = [row, column];
      while (at(r - up, c - right) === mark) [r, c] = [r - up, c - right];
      for (; at(r, c) === mark; r += up, c += right) run.push(r * this.columns + c);
      if (run.length >= this.inarow) run.forEach((cell) => found.add(cell));
    }
    return found;
  }

  /** Who won and why, in words. */
  result() {
    const { ending, points, culprit, refused } = this.entry;
    const cause = data.endings[ending];
    if (points === null) return "No result";
    if (points === 0.5) return `Draw (${cause})`;
    const winner = points === 1 ? 0 : 1;
    const won = `${SYMBOLS[winner]} ${this.names[winner]} won`;
    if (culprit === undefined) return `${won} (${cause})`;
    const what = refused === undefined ? cause : `${cause}: column ${refused + 1}`;
    return `${won}: ${SYMBOLS[culprit]} ${this.names[culprit]} forfeited (${what})`;
  }
}

function best(scores) {
  return Math.max(...scores.filter((score) => score !== null));
}

const signed = (score) => (score > 0 ? `+${score}` : score < 0 ? `−${-score}` : "0");

// ---------------------------------------------------------------- the viewer

let shown = null; // the game in the viewer
let shownIndex = -1;
let ply = 0;

function open(index, at) {
  shownIndex = index;
  shown = new Game(data.games[index]);
  find("viewer-title").textContent = `Game ${shown.entry.id}`;
  find("slider").max = shown.end;
  enable("mistake", shown.mistake < Infinity);
  const stderr = shown.entry.stderr ?? "";
  find("stderr").textContent = stderr;
  find("stderr-box").hidden = !stderr;
  find("stderr-box").open = shown.entry.culprit !== undefined;
  showPlayers();
  showMoves();
  step(at ?? shown.entry.opening);
  showNeighbours();
}

function step(to) {
  ply = Math.max(0, Math.min(to, shown.end));
  showBoard();
  showColumns();
  showCurve();
  find("position").replaceChildren(...describe());
  find("slider").value = ply;
  find("slider").setAttribute("aria-valuetext", find("position").textContent);
  for (const id of ["to-start", "back"]) enable(id, ply > 0);
  for (const id of ["forward", "to-end"]) enable(id, ply < shown.end);
  for (const button of find("moves").querySelectorAll("button")) {
    const current = Number(button.dataset.ply) === ply;
    button.tabIndex = current ? 0 : -1;
    if (current) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    if (current) reveal(button);
  }
}

/** Scrolls the list of moves, not the page. */
function reveal(button) {
  const list = find("moves");
  const top = button.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}

function showPlayers() {
  const points = shown.entry.points;
  find("players").replaceChildren(
    ...[0, 1].map((seat) => {
      const score = points === null ? "" : { 1: "won", 0.5: "drew", 0: "lost" }[seat ? 1 - points : points];
      const judged = shown.moves.map((_, at) => (at % 2 === seat ? shown.judgement(at) : null)).filter(Boolean);
      const share = (kinds) => Math.round((100 * judged.filter((kind) => kinds.includes(kind)).length) / judged.length);
      const accuracy = judged.length ? `${share(["best"])} % best, ${share(["best", "kept"])} % kept` : "";
      return make(
        "div",
        { class: `player ${SIDES[seat]}` },
        disc(seat),
        make("b", {}, ...breakable(shown.names[seat])),
        make("span", { class: `outcome ${score}` }, score),
        make("small", {}, accuracy),
      );
    }),
  );
}

/** A disc as a picture of its own. */
function disc(seat) {
  return svg("svg", { class: "disc", viewBox: "-22 -22 44 44", "aria-hidden": "true" }, ...discAt(0, 0, seat));
}

/** A disc at a place: a cross or a ring tells the players apart where colours do not. */
function discAt(x, y, seat) {
  const side = SIDES[seat];
  const mark = seat
    ? svg("circle", { class: `mark ${side}`, cx: x, cy: y, r: 7.5 })
    : svg("path", { class: `mark ${side}`, d: `M${x - 6} ${y - 6}l12 12m0 -12l-12 12` });
  return [svg("circle", { class: `face ${side}`, cx: x, cy: y, r: 18.5 }), mark];
}

function showBoard() {
  const { rows, columns } = shown;
  const { cells, heights } = shown.position(ply);
  const line = ply === shown.end ? shown.line() : new Set();
  const last = ply ? (heights[shown.moves[ply - 1]] - 1) * columns + shown.moves[ply - 1] : -1;
  const x = (column) => 50 * column + 25;
  const y = (row) => 50 * (rows - row) - 25;
  const picture = svg("svg", { class: "board", viewBox: `-6 -6 ${50 * columns + 12} ${50 * rows + 12}`, role: "img" });
  picture.append(
    svg("title", {}, `Board with ${plural(ply, "disc")}`),
    svg("rect", { class: "panel", x: -6, y: -6, width: 50 * columns + 12, height: 50 * rows + 12, rx: 14 }),
  );
  cells.forEach((mark, cell) => {
    const [cx, cy] = [x(cell % columns), y(Math.floor(cell / columns))];
    picture.append(svg("circle", { class: "hole", cx, cy, r: 20 }));
    if (mark) picture.append(...discAt(cx, cy, mark - 1));
    if (cell === last || line.has(cell)) picture.append(svg("circle", { class: "rim", cx, cy, r: 20 }));
  });
  if (ply < shown.end) {
    const column = shown.moves[ply];
    const kind = shown.judgement(ply) ?? "unknown";
    const place = { class: `ghost ${SIDES[ply % 2]} ${kind}`, cx: x(column), cy: y(heights[column]), r: 18 };
    picture.append(svg("circle", place));
  }
  find("board").replaceChildren(picture);
}

/** The value of each column above the board, with what it means. */
function showColumns() {
  const scores = shown.scores(ply);
  const over = ply === shown.end && shown.entry.ending !== "steps" && shown.entry.culprit === undefined;
  const highest = scores?.some((score) => score !== null) ? best(scores) : null;
  const box = find("columns");
  box.style.setProperty("--columns", shown.columns);
  box.replaceChildren(
    ...Array.from({ length: shown.columns }, (_, column) => {
      const score = scores?.[column] ?? null;
      const played = ply < shown.end && shown.moves[ply] === column;
      const words = score === null ? "" : shown.words(score, ply);
      const classes = ["column", score === null ? "none" : score > 0 ? "win" : score < 0 ? "loss" : "draw"];
      if (score !== null && score === highest) classes.push("top");
      if (played) classes.push("played");
      const text = score !== null ? signed(score) : scores || over ? "" : "?";
      const label = [
        `column ${column + 1}`,
        words || (scores && !over ? "full" : over ? "game over" : "not solved"),
        ...(score !== null && score === highest ? ["best"] : []),
        ...(played ? ["played"] : []),
      ].join(", ");
      return make(
        "div",
        { class: classes.join(" "), role: "listitem", "aria-label": label, title: label },
        make("span", { class: "index" }, String(column + 1)),
        make("b", {}, text),
        make("small", {}, words.replace(/^(win|lose)s in (\d+) .*/, "$1 $2")),
      );
    }),
  );
}

/** The position in words: who is to move, what it is worth, what was played and what that was worth. */
function describe() {
  const side = ply % 2;
  const mover = `${SYMBOLS[side]} ${shown.names[side]}`;
  const scores = shown.scores(ply);
  const parts = [`${plural(ply, "disc")}. `];
  if (ply === shown.end) parts.push(make("b", {}, shown.result()), ". ");
  const known = scores?.some((score) => score !== null);
  if (known) {
    const top = best(scores);
    const columns = scores.flatMap((score, column) => (score === top ? [column + 1] : []));
    const list = `${columns.length > 1 ? "columns" : "column"} ${columns.join(", ")}`;
    parts.push(`${mover} to move: ${top ? shown.words(top, ply) : "a draw"} with ${list}. `);
  } else if (ply < shown.end) {
    parts.push(`${mover} to move; not solved. `);
  }
  if (ply === shown.end) return parts;
  const column = shown.moves[ply];
  if (ply < shown.entry.opening) {
    parts.push(`Column ${column + 1} belongs to the opening that was set up.`);
    return parts;
  }
  const kind = shown.judgement(ply);
  const taken = shown.milliseconds(ply);
  const time = taken === undefined ? "" : ` in ${duration(taken)}`;
  parts.push(`Played: column ${column + 1}${time}`);
  const now = known ? shown.words(scores[column], ply) : "";
  if (kind === "best") parts.push(", a best move.");
  if (kind === "kept") parts.push(`, which ${now === "draw" ? "draws" : now}: the value is kept.`);
  if (kind === "lost") {
    const which = shown.mistakes[side] === ply ? `${SYMBOLS[side]}’s first mistake` : "a mistake";
    parts.push(", ", make("strong", { class: "lost" }, which), `: ${now === "draw" ? "now a draw" : now}.`);
  }
  if (!kind) parts.push(".");
  return parts;
}

/** A short game does not fill the curve. */
const curveSlots = () => Math.max(shown.end + 1, 12);

/** Bars of the value at every ply, for the first mover upwards; the selected one marked, and mistakes. */
function showCurve() {
  const plies = Array.from({ length: shown.end + 1 }, (_, at) => at);
  const values = plies.map((at) => shown.value(at));
  const largest = Math.max(5, ...values.map((value) => Math.abs(value ?? 0)));
  const width = 100 / curveSlots();
  const parts = [];
  for (const at of plies) {
    const x = `${at * width}%`;
    const value = values[at];
    const bar = { x, width: `${width * 0.86}%` };
    if (at === ply) parts.push(svg("rect", { class: "now", x, width: `${width}%`, y: 0, height: "100%" }));
    if (value === null) parts.push(svg("rect", { class: "unknown", ...bar, y: "47%", height: "6%" }));
    else if (value === 0) parts.push(svg("rect", { class: "even", ...bar, y: "48%", height: "4%" }));
    else {
      const height = 6 + (38 * Math.abs(value)) / largest;
      const y = value > 0 ? 50 - height : 50;
      parts.push(svg("rect", { class: value > 0 ? "x" : "o", ...bar, y: `${y}%`, height: `${height}%` }));
    }
  }
  parts.push(svg("line", { class: "zero", x1: 0, x2: "100%", y1: "50%", y2: "50%" }));
  shown.mistakes.forEach((at, seat) => {
    if (at === null) return;
    const cx = `${(at + 0.43) * width}%`;
    parts.push(svg("circle", { class: "mistake", cx, cy: seat ? "92%" : "8%", r: 5 }));
  });
  find("curve").replaceChildren(...parts);
}

function showMoves() {
  const items = shown.moves.map((column, at) => {
    const kind = shown.judgement(at);
    const side = at % 2;
    const first = shown.mistakes[side] === at;
    const taken = shown.milliseconds(at);
    const opening = at < shown.entry.opening;
    const words = opening ? "opening" : { best: "best", kept: "value kept", lost: first ? "first mistake" : "mistake" }[kind] ?? "";
    const sign = { best: "", kept: "·", lost: first ? "??" : "?" }[kind] ?? "";
    const button = make(
      "button",
      {
        type: "button",
        class: `move ${SIDES[side]} ${opening ? "opening" : (kind ?? "unknown")}${first ? " first" : ""}`,
        "data-ply": at,
        "aria-label": `${at + 1}: ${SYMBOLS[side]} column ${column + 1}${words && `, ${words}`}`,
      },
      make("span", { class: "number" }, String(at + 1)),
      make("span", { class: "symbol" }, SYMBOLS[side]),
      make("b", {}, String(column + 1)),
      make("span", { class: "sign" }, sign),
      make("small", {}, taken === undefined ? "" : duration(taken)),
    );
    return make("li", {}, button);
  });
  const taken = shown.milliseconds(shown.end);
  const ending = make(
    "button",
    { type: "button", class: "move ending", "data-ply": shown.end },
    make("b", {}, shown.result()),
    make("small", {}, taken === undefined ? "" : duration(taken)),
  );
  find("moves").replaceChildren(...items, make("li", { class: "ending" }, ending));
}

// ---------------------------------------------------------------- addresses

function address(index, at) {
  return `#${new URLSearchParams({ game: data.games[index].id, ...(at === undefined ? {} : { ply: at }) })}`;
}

/** Opens what the address names; without a game in it, the first one if none is open. */
function follow(event) {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (!wanted.has("game")) {
    if (!shown) open(0);
    return;
  }
  const index = data.games.findIndex((game) => game.id === wanted.get("game"));
  if (index < 0) {
    if (!shown) open(0);
    find("position").textContent = `There is no game ${wanted.get("game")} in this report.`;
  } else {
    const at = Number.parseInt(wanted.get("ply") ?? "", 10);
    open(index, Number.isNaN(at) ? undefined : at);
  }
  find("viewer").focus({ preventScroll: true });
  find("viewer").scrollIntoView({ block: "start", behavior: event ? "auto" : "instant" });
}

function visit(index, at) {
  if (index !== undefined) location.hash = address(index, at);
}

let writing = 0;

/** Goes to a ply and, once the hand rests, writes it into the address: browsers limit how often that is done. */
function go(to) {
  step(to);
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", address(shownIndex, ply)), 150);
}

async function copyLink() {
  const link = new URL(address(shownIndex, ply), location.href).href;
  try {
    await navigator.clipboard.writeText(link);
    find("copied").textContent = "Link copied";
  } catch {
    history.replaceState(null, "", link);
    find("copied").textContent = "Copy it from the address bar";
  }
}

function onKey(event) {
  const target = event.target;
  const inside = find("viewer").contains(target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || target.matches("input, select, pre")) return;
  if (!inside && target !== document.body) return;
  const steps = { ArrowLeft: ply - 1, ArrowRight: ply + 1, ...(inside ? { Home: 0, End: shown.end } : {}) };
  if (!(event.key in steps)) return;
  event.preventDefault();
  go(steps[event.key]);
  if (target.matches(".move")) find("moves").querySelector("[aria-current]").focus();
}

// ---------------------------------------------------------------- the list of games

const ANY = "";
const RESULTS = [["won", "won"], ["drawn", "drawn"], ["lost", "lost"], ["none", "no result"]];
let order = []; // indices of the games that the filters let through, sorted
let page = 0;
let sorting = { key: "id", up: true };

const result = (entry, seat = 0) => (entry.points === null ? "none" : ["lost", "drawn", "won"][2 * (seat ? 1 - entry.points : entry.points)]);
const firstMistake = (entry) => Math.min(...(entry.mistakes ?? [null, null]).map((at) => at ?? Infinity));

const COLUMNS = [
  { key: "id", label: "Game", sort: (_, index) => index },
  { key: "first", label: "✕ first", sort: (entry) => data.agents[entry.agents[0]] },
  { key: "second", label: "○ second", sort: (entry) => data.agents[entry.agents[1]] },
  { key: "result", label: "Result", sort: (entry) => entry.points ?? -1 },
  { key: "ending", label: "Ending", sort: (entry) => data.endings[entry.ending] },
  { key: "discs", label: "Discs", sort: (entry) => entry.moves.length },
  { key: "mistake", label: "First mistake", sort: firstMistake },
];

function choices(select, options, any) {
  select.replaceChildren(make("option", { value: ANY }, any), ...options.map(([value, text]) => make("option", { value }, text)));
}

function prepareList() {
  const agents = data.agents.map((name, index) => [index, name]);
  choices(find("agent"), agents, "any");
  choices(find("other"), agents, "any");
  const seen = new Set(data.games.map((game) => game.ending));
  choices(find("ending"), Object.entries(data.endings).filter(([ending]) => seen.has(ending)), "any");
  choices(find("mistakes"), [["some", "a mistake"], ["agent", "by the agent"], ["clean", "none"]], "any");
  prepareResults();
  find("headings").replaceChildren(
    ...COLUMNS.map(({ key, label }) => {
      const button = make("button", { type: "button" }, label);
      button.addEventListener("click", () => {
        sorting = { key, up: sorting.key === key ? !sorting.up : true };
        list();
      });
      return make("th", { scope: "col", class: key, "data-key": key }, button);
    }),
  );
  find("filters").addEventListener("change", () => list());
  find("filters").addEventListener("reset", () => setTimeout(list));
  find("filters").addEventListener("submit", (event) => event.preventDefault());
  find("page-back").addEventListener("click", () => showPage(page - 1));
  find("page-forward").addEventListener("click", () => showPage(page + 1));
  list();
}

/** Results are the chosen agent's, else the first mover's. */
function prepareResults() {
  const chosen = find("result").value;
  const who = find("agent").value === ANY ? "✕ " : "";
  choices(find("result"), RESULTS.map(([value, text]) => [value, value === "none" || value === "drawn" ? text : who + text]), "any");
  find("result").value = chosen;
}

function matches(entry) {
  const [agent, other, wanted, ending, mistakes] = ["agent", "other", "result", "ending", "mistakes"].map((id) => find(id).value);
  const seats = [0, 1].filter(
    (seat) =>
      (agent === ANY || entry.agents[seat] === Number(agent)) && (other === ANY || entry.agents[1 - seat] === Number(other)),
  );
  const views = agent === ANY ? seats.slice(0, 1).map(() => 0) : seats;
  return (
    views.some((seat) => wanted === ANY || result(entry, seat) === wanted) &&
    (ending === ANY || entry.ending === ending) &&
    (mistakes === ANY ||
      (mistakes === "some" && firstMistake(entry) < Infinity) ||
      (mistakes === "clean" && entry.mistakes && firstMistake(entry) === Infinity) ||
      (mistakes === "agent" && views.some((seat) => (entry.mistakes?.[seat] ?? null) !== null)))
  );
}

function list() {
  prepareResults();
  const { sort } = COLUMNS.find((column) => column.key === sorting.key);
  const keyed = data.games.flatMap((entry, index) => (matches(entry) ? [[sort(entry, index), index]] : []));
  const sense = sorting.up ? 1 : -1;
  keyed.sort(([a, i], [b, j]) => (a < b ? -sense : a > b ? sense : i - j));
  order = keyed.map(([, index]) => index);
  for (const heading of find("headings").children) {
    const state = heading.dataset.key === sorting.key ? (sorting.up ? "ascending" : "descending") : "none";
    heading.setAttribute("aria-sort", state);
  }
  find("found").textContent = `${order.length} of ${plural(data.games.length, "game")}`;
  showPage(0);
  showNeighbours();
}

function showPage(number) {
  const pages = Math.max(1, Math.ceil(order.length / PAGE_ROWS));
  page = Math.max(0, Math.min(number, pages - 1));
  const start = page * PAGE_ROWS;
  find("rows").replaceChildren(...order.slice(start, start + PAGE_ROWS).map(row));
  find("page").textContent = `Page ${page + 1} of ${pages}`;
  enable("page-back", page > 0);
  enable("page-forward", page < pages - 1);
}

function row(index) {
  const entry = data.games[index];
  const [first, second] = entry.agents.map((agent) => data.agents[agent]);
  const score = entry.points === null ? "–" : { 1: "1–0", 0.5: "½–½", 0: "0–1" }[entry.points];
  const mistake = firstMistake(entry);
  const forfeit = entry.culprit !== undefined;
  const cells = [
    make("a", { href: address(index) }, entry.id),
    make("span", {}, ...breakable(first)),
    make("span", {}, ...breakable(second)),
    score,
    forfeit ? `${SYMBOLS[entry.culprit]} ${data.endings[entry.ending]}` : data.endings[entry.ending],
    String(entry.moves.length),
    mistake === Infinity ? "" : make("a", { href: address(index, mistake) }, `${SYMBOLS[mistake % 2]} disc ${mistake + 1}`),
  ];
  return make("tr", { class: index === shownIndex ? "current" : null }, ...cells.map((cell, at) => make("td", { class: COLUMNS[at].key + (forfeit && COLUMNS[at].key === "ending" ? " forfeit" : "") }, cell)));
}

/** Which games come before and after the open one in the list as it is filtered. */
function neighbours() {
  const at = order.indexOf(shownIndex);
  return at < 0 ? [undefined, order[0]] : [order[at - 1], order[at + 1]];
}

function showNeighbours() {
  const [previous, next] = neighbours();
  enable("previous-game", previous !== undefined);
  enable("next-game", next !== undefined);
}

/** Sets the filters and goes to the list. */
function filter(values) {
  find("filters").reset();
  for (const [id, value] of Object.entries(values)) find(id).value = value;
  list();
  location.hash = "games";
}

// ---------------------------------------------------------------- start

function start() {
  if (!data.games.length) return;
  if (data.games.length > 1) prepareList();
  else for (const id of ["previous-game", "next-game"]) find(id).hidden = true;
  const actions = {
    "to-start": () => go(0),
    back: () => go(ply - 1),
    forward: () => go(ply + 1),
    "to-end": () => go(shown.end),
    mistake: () => shown.mistake < Infinity && go(shown.mistake),
    copy: copyLink,
    "previous-game": () => visit(neighbours()[0]),
    "next-game": () => visit(neighbours()[1]),
  };
  for (const [id, action] of Object.entries(actions)) find(id).addEventListener("click", action);
  find("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  find("moves").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go(Number(button.dataset.ply));
  });
  find("curve").addEventListener("click", (event) => {
    const box = find("curve").getBoundingClientRect();
    go(Math.floor(((event.clientX - box.left) / box.width) * curveSlots()));
  });
  for (const button of document.querySelectorAll("[data-agents]")) {
    const [agent, other] = button.dataset.agents.split(",");
    button.addEventListener("click", () => filter({ agent, other }));
  }
  for (const button of document.querySelectorAll("[data-game]")) {
    const index = Number(button.dataset.game);
    button.addEventListener("click", () => visit(index, data.games[index].moves.length));
  }
  for (const button of document.querySelectorAll("[data-forfeit]")) {
    const [agent, ending] = button.dataset.forfeit.split(",");
    button.addEventListener("click", () => filter({ agent, ending, result: "lost" }));
  }
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", follow);
  follow();
}

start();
