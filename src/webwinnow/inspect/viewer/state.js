// The viewer of a report. What pages say reaches the document only through textContent and createTextNode, inside
// sandboxed frames that run no script; nothing here reads HTML from the data, and nothing is asked of any network.
// Its files are joined in the order of `document.SCRIPTS` and share one scope.

const MILLION = 1e6;
const CLOSE = -1, NEXT_REGION = -2, BLANK = -3;
const ROWS_AT_ONCE = 200, ROWS_OPEN = 40;
const FAMILY_HUE = { fixed: 215, service: 280, navigation: 36, posts: 175, content: 140 };
const HUE_STEP = 7;
const FRAME_POLICY = "default-src 'none'; style-src 'unsafe-inline'";

const $ = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const count = (n) => n.toLocaleString("en");
const percent = (part, whole) => (whole ? Math.round((100 * part) / whole) : 0) + " %";
const shown = (turn) => (turn / MILLION).toFixed(3);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

async function unpack(id) {
  const packed = atob($(id).textContent);
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

let index = null;      // what the report is about
let site = null;       // the site at hand, of index.sites
let page = null;       // the page at hand, unpacked
let tree = null;       // the tree of the site at hand, unpacked
let siteNumber = 0, pageNumber = -1;
let held = -1, pointed = -1;
let categories = [];   // kept, removed, the kinds, hidden
let categoryNamed = new Map();
const turned = new Map();  // "site method" -> where a dial was turned to: millionths, or the name of a favour
const off = new Set(["hidden"]);
const panes = [];

// Where the dials stand

const methodNamed = (name) => index.methods.find((method) => method.name === name);
const turnKey = (name) => `${siteNumber} ${name}`;
const turnOf = (name) => turned.get(turnKey(name)) ?? null;

function standsAt(name) {
  const said = page.methods[name], turn = turnOf(name);
  if (turn === null) return said.own;
  return typeof turn === "string" ? said.favored[turn] : turn;
}

function keeper(name) {
  const said = page.methods[name], turn = standsAt(name), dial = methodNamed(name).dial;
  if (turn === null) return () => false;
  return dial && dial.more ? (r) => turn > said.limit[r] : (r) => turn <= said.limit[r];
}

function categoryOf(name, keeps, r) {
  if (keeps(r)) return "kept";
  if (page.isHidden[r]) return "hidden";
  const kind = page.methods[name].kind[r];
  return kind ? "kind-" + kind : "removed";
}
