// SPDX-License-Identifier: MIT
// objects.js N: objects, strings, tables and buffers, of which random ones are replaced; N times.
'use strict';

const n = Number(process.argv[2]);
let state = 12345;

function draw(most) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 12) % most;
}

function work() {
    const table = new Map();
    const buffers = new Array(500).fill(null);
    let digest = 0;
    for (let i = 0; i < n; i++) {
        const key = `key ${draw(20000)}`;
        table.set(key, { i, text: 'x'.repeat(draw(100)), list: Array.from({ length: draw(10) }, (_, k) => k * i) });
        if (i % 3 === 0) {
            table.delete(`key ${draw(20000)}`);
        }
        const place = draw(buffers.length);
        if (buffers[place] !== null && buffers[place][0] !== place % 256) {
            throw new Error('a buffer does not contain what was written into it');
        }
        buffers[place] = Buffer.alloc(1 + draw(20000), place % 256);
    }
    for (const key of [...table.keys()].sort()) {
        const { i, text, list } = table.get(key);
        digest = (Math.imul(digest, 31) + i + text.length + list.length) | 0;
    }
    return digest;
}

console.log('objects', work());
global.gc();
setTimeout(() => console.error('resting_kb', Math.round(process.memoryUsage().rss / 1024)), 300);
