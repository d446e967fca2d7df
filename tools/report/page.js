// SPDX-License-Identifier: MIT
// Tables are sorted by a click on a heading, and retained sizes are an icicle.
// All of it is read from the tables that are there.
"use strict";
(() => {
    // ---- sorting ----

    const valueOf = (row, at) => {
        const cell = row.cells[at];
        return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };

    const sort = (table, head, at) => {
        const down = head.getAttribute("aria-sort") !== "descending" && head.classList.contains("number") ||
                     head.getAttribute("aria-sort") === "ascending";
        const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
        const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? -1 : 1) * compare(valueOf(a, at), valueOf(b, at)));
        for (const other of head.parentNode.cells)
            other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.tBodies[0].append(...rows);
    };

    for (const table of document.querySelectorAll("table.sortable"))
        [...table.tHead.rows[0].cells].forEach((head, at) => {
            const button = document.createElement("button");
            button.textContent = head.textContent;
            button.addEventListener("click", () => sort(table, head, at));
            head.replaceChildren(button);
        });

    // ---- the icicle ----

    const ROW = 20;
    const DEPTH = 24;

    // The table's rows as a tree: each lies below the last one of a smaller level.
    const treeOf = table => {
        const all = { name: "all that is reachable", size: 0, below: [], above: null };
        const path = [all];
        for (const row of table.tBodies[0].rows) {
            const level = Number(row.dataset.level);
            const node = { name: row.cells[0].textContent, size: valueOf(row, 2), shown: row.cells[2].textContent, below: [],
                           above: path[level] };
            path.length = level + 1;
            path.push(node);
            node.above.below.push(node);
        }
        all.size = all.below.reduce((sum, node) => sum + node.size, 0);
        return all;
    };

    const svg = (name, attributes) => {
        const element = document.createElementNS("http://www.w3.org/2000/svg", name);
        for (const [key, value] of Object.entries(attributes))
            element.setAttribute(key, value);
        return element;
    };

    const colour = name => {
        let hash = 0;
        for (const letter of name)
            hash = (hash * 31 + letter.codePointAt(0)) % 360;
        return `hsl(${hash} 55% 72%)`;
    };

    // A box, with as much of its name as it has room for; whatever is chosen becomes the whole width.
    const box = (node, x, y, width, choose) => {
        const group = svg("g", {});
        const rectangle = svg("rect", { x, y, width, height: ROW, fill: colour(node.name), tabindex: 0 });
        const title = svg("title", {});
        title.textContent = node.shown === undefined ? node.name : `${node.name}: ${node.shown}`;
        rectangle.append(title);
        rectangle.addEventListener("click", () => choose(node));
        rectangle.addEventListener("keydown", event => event.key === "Enter" && choose(node));
        group.append(rectangle);
        if (width > 30) {
            const text = svg("text", { x: x + 4, y: y + 14 });
            text.textContent = node.name.slice(0, Math.floor((width - 8) / 7));
            group.append(text);
        }
        return group;
    };

    const draw = (place, chosen) => {
        const width = place.clientWidth || 900;
        const choose = node => draw(place, node === chosen && node.above ? node.above : node);
        const boxes = [];
        let deepest = 0;
        const add = (node, x, level, scale) => {
            const size = node.size * scale;
            if (size < 1 || level >= DEPTH)
                return;
            deepest = Math.max(deepest, level);
            boxes.push(box(node, x, level * ROW, size, choose));
            for (const child of node.below) {
                add(child, x, level + 1, scale);
                x += child.size * scale;
            }
        };
        const above = [];
        for (let node = chosen.above; node; node = node.above)
            above.unshift(node);
        above.forEach((node, level) => boxes.push(box(node, 0, level * ROW, width, choose)));
        add(chosen, 0, above.length, width / (chosen.size || 1));
        const height = (Math.max(deepest, above.length) + 1) * ROW;
        const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, height });
        drawing.append(...boxes);
        place.replaceChildren(drawing);
    };

    const table = document.getElementById("table-retained");
    if (table && table.tBodies[0].rows.length > 0) {
        const place = document.createElement("div");
        const all = treeOf(table);
        place.id = "icicle";
        table.before(place);
        draw(place, all);
        window.addEventListener("resize", () => draw(place, all));
    }
    document.documentElement.dataset.scripted = "yes";
})();
