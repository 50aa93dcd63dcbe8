// SPDX-License-Identifier: GPL-2.0-or-later
// What the statistics page gains where scripts run: search, filter, sort, history, reading on without reloading, theme.
// The page is complete without it. Nothing is asked of any other place than the page itself.
"use strict";
(() => {
const POINTS = 60, LIVE_MS = 3000;
const uri = document.body.dataset.uri;
const rows = new Map(); // those that exist: see "late parts"
const head = document.querySelector(".scroll thead");
const names = head ? ["", ...[...head.rows[1].cells].map(th => th.dataset.f)] : []; // of columns

// Browsers may refuse storage.
const store = {
	get(area, key) { try { return window[area].getItem(key); } catch (e) { return null; } },
	set(area, key, value) { try { window[area].setItem(key, value); } catch (e) { /* goes without */ } },
};

function make(name, props, ...children) {
	const e = Object.assign(document.createElement(name), props);
	e.append(...children);
	return e;
}

// --- theme

const theme = make("button", { type: "button" });
const THEMES = ["auto", "light", "dark"];

function setTheme(name) {
	theme.textContent = "theme: " + name;
	document.documentElement.dataset.theme = name;
	store.set("localStorage", "haproxy-theme", name);
}

theme.onclick = () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % 3]);
setTheme(THEMES.includes(store.get("localStorage", "haproxy-theme")) ? store.get("localStorage", "haproxy-theme") : "auto");
const tools = document.getElementById("tools");
tools.hidden = false;
if (uri === undefined) { // the page of one object
	tools.append(theme);
	return;
}

// --- search and filter

const search = make("input", { type: "search", placeholder: "name, address, status", ariaLabel: "search" });
const state = make("select", { ariaLabel: "state" });
for (const s of ["all", "up", "down", "maint", "drain", "none"])
	state.append(make("option", { value: s, textContent: s === "none" ? "not checked" : s }));

function shows(tr) {
	const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
	const head = tr.querySelector("th");
	const text = (tr.dataset.k + " " + head.title + " " + tr.cells[1].textContent).toLowerCase();
	if (state.value !== "all" && (tr.dataset.t !== "s" || !tr.classList.contains(state.value)))
		return false;
	return words.every(w => text.includes(w));
}

function isFiltered() {
	return search.value !== "" || state.value !== "all";
}

function filter() {
	openAll(document);
	for (const part of document.querySelectorAll("section")) {
		let any = false;
		for (const tr of part.querySelectorAll("tbody tr")) {
			tr.hidden = !shows(tr);
			any = any || !tr.hidden;
		}
		part.hidden = !any;
	}
	store.set("sessionStorage", "search", search.value);
	store.set("sessionStorage", "state", state.value);
}

// --- sort: the servers of one table, between its frontend and its backend

function value(tr, at) {
	const td = tr.cells[at], text = td.dataset.v || td.textContent.trim();
	return text !== "" && !isNaN(text) ? Number(text) : text.toLowerCase();
}

function compare(a, b) {
	if (typeof a === typeof b)
		return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
	return typeof a === "number" ? -1 : 1;
}

function sort(th, at) {
	const table = th.closest(".scroll");
	openAll(table);
	const down = th.getAttribute("aria-sort") === "descending";
	const servers = body => [...body.rows].filter(tr => tr.dataset.t === "s");
	const parts = [...table.querySelectorAll("tbody")].map(body => {
		const here = servers(body);
		return { body, here, behind: here.length ? here[here.length - 1].nextSibling : null };
	});
	const list = parts.flatMap(p => p.here);
	for (const other of table.querySelectorAll("th[aria-sort]"))
		other.removeAttribute("aria-sort");
	th.setAttribute("aria-sort", down ? "ascending" : "descending");
	list.sort((a, b) => compare(value(a, at), value(b, at)) * (down ? 1 : -1));
	for (const p of parts) // as many in each as before: only parts are laid out at a time
		for (const tr of list.splice(0, p.here.length))
			p.body.insertBefore(tr, p.behind);
}

// --- history: sessions a second, as many points as were read; where the server draws none

const history = new Map(Object.entries(JSON.parse(store.get("sessionStorage", "history " + uri) || "{}")));

function draw(tr, points) {
	const top = Math.max(...points);
	let svg = tr.querySelector("svg");
	if (!top || points.length < 2 || (svg && !svg.querySelector("polyline")))
		return;
	if (!svg) {
		svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
		svg.setAttribute("class", "spark");
		svg.setAttribute("viewBox", "0 0 60 14");
		svg.append(document.createElementNS("http://www.w3.org/2000/svg", "polyline"));
		(tr.querySelector("th a") || tr.querySelector("th")).replaceChildren(svg);
	}
	svg.firstChild.setAttribute("points", points.map((v, i) =>
		(60 * i / (POINTS - 1)).toFixed(1) + "," + (13 - 12 * v / top).toFixed(1)).join(" "));
}

function remember(key, rate) {
	const points = history.get(key) || [];
	points.push(Number(rate) || 0);
	if (points.length > POINTS)
		points.shift();
	history.set(key, points);
	if (rows.has(key))
		draw(rows.get(key), points);
}

function keep() {
	store.set("sessionStorage", "history " + uri, JSON.stringify(Object.fromEntries(history)));
}

// --- reading on: the same figures as CSV

function fields(line) {
	return [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/g)].map(m => m[1] !== undefined ? m[1].replace(/""/g, '"') : m[2]);
}

function span(s) {
	const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
	return d ? d + "d" + h + "h" : s >= 3600 ? h + "h" + m + "m" : m ? m + "m" + s % 60 + "s" : s + "s";
}

function tint(tr, status) {
	const is = s => status.startsWith(s);
	if (tr.dataset.t === "s")
		tr.className = is("UP") ? "up" : is("MAINT") ? "maint" : is("DRAIN") || is("NOLB") ? "drain" : is("DOWN") ? "down" : "none";
}

// As stats_put_check() writes it.
function check(row) {
	const by = row.status.includes("(agent)") ? "agent" : "check", why = row[by === "agent" ? "last_agt" : "last_chk"];
	const number = row[by + "_code"], took = row[by + "_duration"];
	return row[by + "_status"] + (Number(number) ? " " + number : "") + (took ? " " + took + "ms" : "") +
		(why && !row.status.startsWith("UP") ? ": " + why : "");
}

function update(tr, row) {
	for (const td of tr.cells) {
		const th = names[td.cellIndex];
		if (!th || row[th] === undefined)
			continue;
		if (td.dataset.v !== undefined) {
			td.dataset.v = row[th];
			td.textContent = row[th] === "" ? "" : span(Number(row[th]));
		} else if (td.textContent !== (th === "check_status" ? check(row) : row[th])) {
			td.textContent = th === "check_status" ? check(row) : row[th];
		}
	}
	tint(tr, row.status);
}

async function read() {
	const answer = await fetch(uri + ";csv", { cache: "no-store", credentials: "same-origin" });
	if (!answer.ok)
		throw new Error(answer.status);
	const lines = (await answer.text()).split("\n"), titles = fields(lines[0].slice(2));
	for (const line of lines.slice(1)) {
		const list = fields(line), row = Object.fromEntries(titles.map((h, i) => [h, list[i]]));
		const tr = rows.get(row.pxname + "/" + row.svname);
		if (!tr)
			continue;
		update(tr, row);
		remember(tr.dataset.k, row.rate);
	}
	keep();
	if (isFiltered())
		filter();
}

const live = make("button", { type: "button", textContent: "live" });
let timer = 0;

function go() {
	read().then(() => { live.title = "read " + new Date().toLocaleTimeString(); },
		e => { live.title = "not read: " + e.message; });
}

function setLive(on) {
	clearInterval(timer);
	live.classList.toggle("on", on);
	live.setAttribute("aria-pressed", on);
	store.set("sessionStorage", "live", on ? "1" : "");
	if (on) {
		openAll(document);
		timer = setInterval(go, LIVE_MS);
		go();
	}
}

// --- late parts: rows behind the first ones stay text until somebody comes near, or needs them all

const late = new Map(); // the place of each, and its text
const near = new IntersectionObserver(list => {
	for (const e of list)
		if (e.isIntersecting)
			open(e.target);
}, { rootMargin: "300px" });

// What the parser has made, or open().
function take(part) {
	for (const th of part.querySelectorAll("thead th[rowspan],thead th[data-f]")) {
		th.className = "sort";
		th.tabIndex = 0;
	}
	for (const tr of part.querySelectorAll("tbody tr")) {
		rows.set(tr.dataset.k, tr);
		remember(tr.dataset.k, tr.cells[names.indexOf("rate")].textContent);
	}
}

function open(place) {
	const part = make("template", { innerHTML: late.get(place) }).content;
	late.delete(place);
	near.unobserve(place);
	take(part);
	place.replaceWith(part);
}

function openAll(within) {
	for (const place of [...late.keys()])
		if (within.contains(place))
			open(place);
}

for (const part of document.querySelectorAll("noscript")) {
	const place = make("div", {});
	place.style.height = part.dataset.h + "px";
	late.set(place, part.textContent);
	part.replaceWith(place);
	near.observe(place);
}
take(document);
keep();
addEventListener("pagehide", keep);
addEventListener("beforeprint", () => openAll(document));

// --- all together

// A column's title sorts; the browser's own search finds what is there: all.
document.addEventListener("click", e => press(e.target));
document.addEventListener("keydown", e => {
	if (e.key === "Enter")
		press(e.target);
	if (e.key === "F3" || ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "f"))
		openAll(document);
});

function press(th) {
	if (th.matches("th.sort"))
		sort(th, Math.max(0, names.indexOf(th.dataset.f)));
}

tools.append(search, state, live, theme);
search.value = store.get("sessionStorage", "search") || "";
state.value = store.get("sessionStorage", "state") || "all";
search.oninput = state.onchange = filter;
live.onclick = () => setLive(!live.classList.contains("on"));
if (isFiltered())
	filter();
if (store.get("sessionStorage", "live"))
	setLive(true);
})();
