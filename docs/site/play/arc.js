// SPDX-License-Identifier: BSD-2-Clause
// Looks up in the table where a request leads, and gives records their letters. Who is evicted, what p becomes and what is
// forgotten stands in the table; here it is only said and given a place on the screen.
"use strict";
(() => {
	const traces = JSON.parse(document.getElementById("traces").textContent);
	const LISTS = ["T1", "T2", "B1", "B2"], LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const ABOUT = {T1: "used once", T2: "used again", B1: "names from T1", B2: "names from T2"};
	const get = (id) => document.getElementById(id);
	let table = traces.tables[0], past = [];

	function make(tag, attributes, ...children) {
		const element = document.createElement(tag);
		for (const [name, value] of Object.entries(attributes || {}))
			if (value !== null && value !== false)
				element.setAttribute(name, value === true ? "" : value);
		element.append(...children);
		return element;
	}

	// A moment: the state's number, the letters of its records, what was asked for, and what was said of it.
	const start = () => ({state: 0, names: "", asked: "", told: "The cache is empty.", hits: 0});
	const now = () => past[past.length - 1];

	// Which list each record of a moment is in.
	function places({state, names}) {
		const found = new Map();
		let at = 0;
		table.states[state].slice(0, 4).forEach((length, list) => {
			for (const last = at + length; at < last; at++)
				found.set(names[at], LISTS[list]);
		});
		return found;
	}

	// The next letter that nobody has, in turn, so that one that was forgotten doesn't come back at once.
	function unused({names, asked}) {
		const last = asked ? LETTERS.indexOf([...asked].reduce((a, b) => (a > b ? a : b))) : -1;
		const free = [...LETTERS].filter((letter) => !names.includes(letter));
		return free.find((letter) => LETTERS.indexOf(letter) > last) || free[0];
	}

	function told(letter, before, after) {
		const from = before.get(letter), said = [{
			T1: `${letter} is a hit, and used a second time: it goes to T2.`,
			T2: `${letter} is a hit: it comes to the front of T2.`,
			B1: `${letter} is a miss, but B1 remembers its name: T1 was too short. It goes to T2.`,
			B2: `${letter} is a miss, but B2 remembers its name: T2 was too short. It goes to T2.`,
		}[from] || `${letter} is a miss, and new: it goes to T1.`];
		for (const [each, was] of before) {
			const is = after.get(each);
			if (each !== letter && is !== was)
				said.push(is ? `${each} is evicted: ${is} keeps its name.` : was[0] === "B" ? `${each} is forgotten.` :
					`${each} is evicted, and forgotten at once.`);
		}
		return said.join(" ");
	}

	function ask(letter) {
		const then = now(), at = then.names.indexOf(letter), names = then.names + (at < 0 ? letter : "");
		const [state, order] = table.after[then.state][at < 0 ? then.names.length : at];
		const next = {state, names: [...order].map((each) => names[parseInt(each, 36)]).join(""), asked: then.asked + letter};
		const before = places(then), by = table.states[state][4] - table.states[then.state][4];
		next.told = told(letter, before, places(next)) + (by > 0 ? " p grows." : by < 0 ? " p shrinks." : "");
		next.hits = then.hits + Number((before.get(letter) || "B")[0] === "T");
		past.push(next);
	}

	const percent = (size) => `${(100 * size / table.most).toFixed(1)}%`;

	function command() {
		const said = [traces.record, table.arc], letters = now().asked;
		past.slice(0, -1).forEach((moment, i) => {
			const number = LETTERS.indexOf(letters[i]) + 1, hit = (places(moment).get(letters[i]) || "B")[0] === "T";
			said.push(`arc_read ${number} 0 1`, ...(hit ? [] : [`arc_put ${number} record`]));
		});
		return `abd-explain '${said.join("; ")}'`;
	}

	function show() {
		const moment = now(), sizes = table.states[moment.state], found = [...places(moment)];
		get("lists").replaceChildren(...LISTS.map((list) => {
			const row = make("div", {class: "row", role: "group", "aria-label": `${list}, the newest first`});
			for (const [letter] of found.filter(([, where]) => where === list)) {
				const box = make("button", {type: "button", class: `record ${list}`, "data-letter": letter,
					"aria-label": `ask for ${letter}, in ${list}`}, letter);
				box.addEventListener("click", () => { ask(letter); show(); focus(letter); });
				row.append(box);
			}
			for (let i = sizes[LISTS.indexOf(list)]; i < table.room; i++)
				row.append(make("span", {class: "record empty", "aria-hidden": "true"}));
			return make("div", {class: "list"}, make("h2", {}, `${list} `, make("small", {}, ABOUT[list])), row);
		}));
		get("bar").replaceChildren(make("i", {style: `width:${percent(sizes[4])}`}));
		get("bar").setAttribute("aria-label", `p: ${sizes[4]} of ${table.most} KiB`);
		get("target").textContent = `p, what T1 should have: ${sizes[4]} of ${table.most} KiB`;
		get("told").textContent = moment.told;
		get("sofar").textContent = `${moment.asked.length} requests, ${moment.hits} hits: ${[...moment.asked].join(" ")}`;
		get("command").textContent = command();
		get("back").disabled = get("anew").disabled = past.length === 1;
		try {
			history.replaceState(null, "", `#room=${table.room}&requests=${moment.asked}`);
		} catch (error) { /* a browser may forbid it for files; nothing depends on it */ }
	}

	// The record moved; so does the focus.
	function focus(letter) {
		const box = document.querySelector(`[data-letter=${letter}]`);
		if (box)
			box.focus();
	}

	function anew(requests) {
		past = [start()];
		for (const letter of requests)
			if (LETTERS.includes(letter))
				ask(letter);
		show();
	}

	const preset = new URLSearchParams(location.hash.slice(1));
	table = traces.tables.find((each) => String(each.room) === preset.get("room")) || table;
	const choices = make("div", {class: "choices"});
	for (const each of traces.tables)
		choices.append(make("label", {}, make("input", {type: "radio", name: "room", value: each.room, checked: each === table}), `${each.room} records`));
	get("controls").append(make("div", {class: "control", role: "radiogroup", "aria-label": "Room for"},
		make("span", {"aria-hidden": "true"}, "Room for"), choices));
	get("controls").addEventListener("change", (event) => {
		table = traces.tables.find((each) => String(each.room) === event.target.value);
		anew("");
	});
	get("controls").addEventListener("submit", (event) => event.preventDefault());
	get("new").addEventListener("click", () => { ask(unused(now())); show(); });
	get("scan").addEventListener("click", () => {
		for (let i = 0; i < 4; i++)
			ask(unused(now()));
		show();
	});
	get("back").addEventListener("click", () => { past.pop(); show(); });
	get("anew").addEventListener("click", () => anew(""));
	anew((preset.get("requests") || "").slice(0, 200));
})();
