// SPDX-License-Identifier: MIT
/*
 * For check_viewers_long: what the readers of memlab and of Chrome's developer tools find, as JSON, for tests/check/viewers.py.
 * They are in node_modules of the current folder.
 *
 *     viewers.mjs heap HEAPSNAPSHOT OUT       by memlab: {nodes: [[id, type, name, bytes, retained, dominator]], edges: [[from, type, name, to]]}
 *     viewers.mjs timeline TRACE OUT          by @paulirish/trace_engine: {thread: [[depth, name, ts, dur]]}
 *     viewers.mjs opener FILE OUT             a script with which speedscope's page loads the file, and shows what it has read of it as text
 */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const packages = path.resolve("node_modules");

async function heap(file) {
    const { getFullHeapFromFile } = createRequire(packages + "/")("@memlab/heap-analysis");
    const snapshot = await getFullHeapFromFile(path.resolve(file));
    const nodes = [], edges = [];

    snapshot.nodes.forEach(n => {
        nodes.push([n.id, n.type, n.name, n.self_size, n.retainedSize, n.dominatorNode.id]);
    });
    snapshot.edges.forEach(e => {
        edges.push([e.fromNode.id, e.type, e.name_or_index, e.toNode.id]);
    });
    return JSON.stringify({ nodes, edges });
}

function slices(tree) {
    const found = [], left = [...tree.roots].map(node => [0, node]);

    while (left.length > 0) {
        const [depth, node] = left.pop();

        found.push([depth, node.entry.name, node.entry.ts, node.entry.dur ?? 0, node.entry.ph]);
        left.push(...node.children.map(child => [depth + 1, child]));
    }
    return found.filter(slice => slice.pop() === "X");
}

async function timeline(file) {
    const engine = path.join(packages, "@paulirish/trace_engine");
    const Trace = await import(pathToFileURL(path.join(engine, "models/trace/trace.js")));
    const { polyfillDOMRect } = await import(pathToFileURL(path.join(engine, "analyze-trace.mjs")));
    const model = Trace.TraceModel.Model.createWithAllHandlers();
    const threads = {};

    polyfillDOMRect();
    await model.parse(JSON.parse(fs.readFileSync(file, "utf8")));
    for (const process of model.parsedTrace().data.Renderer.processes.values())
        for (const [number, thread] of process.threads)
            if (thread.tree !== undefined)
                threads[number] = slices(thread.tree);
    return JSON.stringify(threads);
}

/* In the page: what its Export would save becomes text of the page. */
function show() {
    HTMLAnchorElement.prototype.click = () => {};
    window.URL.createObjectURL = blob => {
        blob.text().then(text => {
            const shown = document.createElement("pre");

            shown.id = "exported";
            shown.textContent = text;
            document.body.append(shown);
        });
        return "about:blank";
    };
    for (const button of [...document.querySelectorAll("div")].filter(d => d.lastChild?.nodeValue === "Export"))
        button.click();
}

function opener(file) {
    const [name, text] = [path.basename(file), fs.readFileSync(file).toString("base64")].map(x => JSON.stringify(x));

    return `speedscope.loadFileFromBase64(${name}, ${text});\nsetTimeout(${show}, 5000);\n`;
}

const [, , what, file, out] = process.argv;

fs.writeFileSync(out, await { heap, timeline, opener }[what](file));
