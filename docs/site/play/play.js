// SPDX-License-Identifier: BSD-2-Clause
// Looks up the story of the choices made, and shows one step of it at a time. What a buffer is made of, what was copied and
// what was counted stands in the traces; here it is only given a place on the screen.
"use strict";
(() => {
	const traces = JSON.parse(document.getElementById("traces").textContent);
	const text = (number) => traces.strings[number];
	const outcomes = {r: "REFUSED", b: "CONTRACT BROKEN"};
	const get = (id) => document.getElementById(id);
	let at = 0;

	function make(tag, attributes, ...children) {
		const element = document.createElement(tag);
		for (const [name, value] of Object.entries(attributes || {}))
			if (value !== null && value !== false)
				element.setAttribute(name, value === true ? "" : value);
		element.append(...children);
		return element;
	}

	// ---- the choices -------------------------------------------------------------------------------------------

	const preset = new URLSearchParams(location.hash.slice(1));
	for (const control of traces.controls) {
		const wanted = control.choices.some(([value]) => value === preset.get(control.name)) ?
			preset.get(control.name) : control.name === "size" ? "12k" : control.choices[0][0];
		const choices = make("div", {class: "choices"});
		for (const [value, label] of control.choices)
			choices.append(make("label", {}, make("input",
				{type: "radio", name: control.name, value, checked: value === wanted}), label));
		get("controls").append(make("div", {class: "control", role: "radiogroup", "aria-label": control.label, "data-step": control.step},
			make("span", {"aria-hidden": "true"}, control.label), choices));
	}

	const chosen = () => traces.controls.map((control) => get("controls").elements[control.name].value);
	const story = () => traces.stories[chosen().join(" ")].map((number) => traces.steps[number]);
	const statement = (step) => text(step[0]);

	// ---- a buffer ----------------------------------------------------------------------------------------------

	function labels([, , owner, place, run, order], name, count) {
		const whose = owner !== "" && owner !== name ? owner + (run >= 0 ? (count > 3 ? "." : " ") : "") : "";
		if (run < 0)
			return [whose || place, ""];
		return [whose + (count > 8 || (whose && count > 3) ? run : count > 3 ? `run ${run}` : `run ${run}, order ${order}`), place];
	}

	function described([size, within, owner, place, run, order], off) {
		const bytes = `bytes ${off} to ${off + size}: `;
		return run < 0 ? bytes + (owner ? `${owner}, ${place}` : place) :
			`${bytes}run ${run} of ${owner}, order ${order}, ${place}` + (within ? `, from ${within} in it` : "");
	}

	function row(parts, name) {
		const which = make("p", {class: "which"});
		const line = make("div", {class: "parts", role: "group", "aria-label": `the parts of ${name}`});
		let off = 0;
		parts.forEach((part, i) => {
			const [label, below] = labels(part, name, parts.length);
			const words = described(part, off);
			const box = make("button", {type: "button", class: `part ${part[2] || "z"}`, style: `flex-grow:${part[0]}`,
				title: words, "aria-label": words, tabindex: i === 0 ? 0 : -1}, label, make("small", {}, below));
			box.addEventListener("focus", () => { which.textContent = words; });
			line.append(box);
			off += part[0];
		});
		line.addEventListener("keydown", (event) => {
			const to = {ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling"}[event.key];
			if (to && event.target[to]) {
				event.target[to].focus();
				event.preventDefault();
			}
			if (to)
				event.stopPropagation();
		});
		return [line, which];
	}

	// A range, as bars under the parts that it covers: in each part by hundredths of it, so that it fits at any width.
	function bars(parts, from, size) {
		const line = make("div", {class: "bars", "aria-hidden": "true"});
		let off = 0;
		for (const [length] of parts) {
			const bar = make("div", {class: "bar", style: `flex-grow:${length}`});
			const first = Math.max(from, off), last = Math.min(from + size, off + length);
			if (first < last)
				bar.append(make("i", {style: `left:${100 * (first - off) / length}%;width:${100 * (last - first) / length}%`}));
			line.append(bar);
			off += length;
		}
		return line;
	}

	function buffer([number, ...marks], largest) {
		const [nameAt, headAt, , size, , partsAt] = traces.shots[number];
		const name = text(nameAt), parts = partsAt.map((part) => traces.parts[part]);
		const [line, which] = row(parts, name);
		const scale = make("div", {class: "scale", style: `width:${100 * size / largest}%`}, line);
		for (const [off, length] of marks)
			scale.append(bars(parts, off, length));
		scale.append(make("div", {class: "ends"}, make("span", {}, "0"), make("span", {}, String(size))));
		const shown = make("div", {class: "buffer"}, make("h3", {}, make("b", {}, name), ": " + text(headAt)), scale);
		for (const [off, length, what] of marks)
			shown.append(make("p", {class: "marked"}, `${text(what)}: ${off} to ${off + length}`));
		shown.append(which);
		return shown;
	}

	function pool(pages) {
		const shown = make("div", {class: "pool", role: "img", "aria-label": "the pool, a square for each page"});
		for (const page of pages)
			shown.append(make("i", {class: page === "." ? "" : page === "#" ? "h" : "o"}));
		return shown;
	}

	// ---- a step ------------------------------------------------------------------------------------------------

	function show(step) {
		const [, call, outcome, notes, shots, , pages] = step;
		const largest = Math.max(1, ...shots.map(([number]) => traces.shots[number][3]));
		const shown = [make("h2", {class: "mono"}, statement(step))];
		if (text(call))
			shown.push(make("p", {class: "call mono"}, text(call)));
		shown.push(...shots.map((shot) => buffer(shot, largest)));
		if (text(pages))
			shown.push(pool(text(pages)), make("p", {class: "note"}, "A square for each page of 4096 bytes: blue is ours, grey is held by others."));
		if (outcomes[outcome])
			shown.push(make("p", {class: "outcome"}, outcomes[outcome]));
		shown.push(...notes.map((note) => make("p", {class: "note"}, text(note))));
		get("step").replaceChildren(...shown);
		fit();
	}

	// Words that do not fit are left out; a part says what it is when it is asked.
	function fit() {
		for (const part of document.querySelectorAll(".part")) {
			part.classList.remove("tight", "bare");
			const room = part.clientWidth - 5, words = document.createRange();
			words.selectNodeContents(part.lastChild);
			const below = words.getBoundingClientRect().width;
			words.selectNode(part.firstChild);
			if (below > room)
				part.classList.add("tight");
			if (words.getBoundingClientRect().width > room)
				part.classList.add("bare");
		}
	}

	// Rows that scroll sideways, on a phone, show what is chosen.
	function reveal(element) {
		const row = element && element.parentElement;
		if (row && row.scrollWidth > row.clientWidth)
			row.scrollLeft = element.offsetLeft - row.offsetLeft - (row.clientWidth - element.offsetWidth) / 2;
	}

	function count(steps) {
		const now = new Map();
		steps.forEach(([, , , , , deltas], i) => {
			if (i <= at)
				for (const [name, by, value] of deltas)
					now.set(text(name), [value, i === at ? by : 0]);
		});
		get("counts").replaceChildren(...[...now].map(([name, [value, by]]) => make("tr", {class: by ? "changed" : null},
			make("td", {}, name), make("td", {}, String(value)), make("td", {}, by ? (by > 0 ? "+" : "\u2212") + Math.abs(by) : ""))));
	}

	function turn(to) {
		const steps = story();
		at = Math.max(0, Math.min(to, steps.length - 1));
		get("steps").replaceChildren(...steps.map((step, i) => {
			const button = make("button", {type: "button", "aria-current": i === at ? "step" : null,
				class: {r: "refused", b: "broken"}[step[2]] || null}, statement(step));
			button.addEventListener("click", () => { turn(i); get("steps").children[at].focus(); });
			return button;
		}));
		show(steps[at]);
		count(steps);
		get("back").disabled = at === 0;
		get("next").disabled = at === steps.length - 1;
		get("where").textContent = `step ${at + 1} of ${steps.length}`;
		reveal(get("steps").children[at]);
		for (const input of document.querySelectorAll("#controls :checked"))
			reveal(input.parentElement);
		get("command").textContent = `abd-explain '${steps.map(statement).join("; ")}'`;
	}

	// The step that a control is about: the last one whose statement has its word.
	function about(word) {
		const words = story().map((step) => statement(step).replace(/^\w+ = /, "").split(" ")[0]);
		const found = words.lastIndexOf(word);
		return found >= 0 ? found : words.indexOf("alloc");
	}

	get("controls").addEventListener("change", (event) => {
		turn(about(event.target.closest(".control").dataset.step));
		try {
			history.replaceState(null, "", "#" + new URLSearchParams(traces.controls.map((control, i) => [control.name, chosen()[i]])));
		} catch (error) { /* a browser may forbid it for files; nothing depends on it */ }
	});
	get("controls").addEventListener("submit", (event) => event.preventDefault());
	get("back").addEventListener("click", () => turn(at - 1));
	get("next").addEventListener("click", () => turn(at + 1));
	document.addEventListener("keydown", (event) => {
		if (event.target.closest("input, .parts") || event.altKey || event.ctrlKey || event.metaKey)
			return;
		if (event.key === "ArrowRight")
			turn(at + 1);
		else if (event.key === "ArrowLeft")
			turn(at - 1);
	});
	addEventListener("resize", fit);
	turn(about(traces.controls[0].step));
})();
