// node run.mjs FOLDER FILE SHOTS SEED: runs an OpenQASM file on a simulator that is installed in FOLDER/node_modules,
// version 3 on qsharp-lang, version 2 on quantum-circuit. Prints how often each string of bits was measured, the first
// bit written first. Both draw from a generator of ours, so that a seed gives the same counts every time.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file, shots, seed] = process.argv.slice(2);
const modules = resolve(folder, "node_modules");
const text = readFileSync(file, "utf8");

// mulberry32
let state = Number(seed) >>> 0;
function random32() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
Math.random = () => random32() / 2 ** 32;
globalThis.crypto.getRandomValues = (array) => {
  for (let i = 0; i < array.length; ++i) array[i] = random32();
  return array;
};

async function runVersion3() {
  const qsharp = await import(pathToFileURL(`${modules}/qsharp-lang/dist/main.js`));
  const wasm = readFileSync(`${modules}/qsharp-lang/lib/web/qsc_wasm_bg.wasm`);
  await qsharp.loadWasmModule(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length));
  const compiler = await qsharp.getCompiler();
  const events = new qsharp.QscEventTarget(true);
  const program = { sources: [["model.qasm", text]], languageFeatures: [], projectType: "openqasm" };
  await compiler.run(program, "", Number(shots), events);
  return events.getResults().map(({ result }) => {
    if (typeof result !== "string") throw new Error(JSON.stringify(result));
    return result.replace(/Zero/g, "0").replace(/One/g, "1").replace(/[^01]/g, "");
  });
}

function runVersion2() {
  const QuantumCircuit = createRequire(import.meta.url)(`${modules}/quantum-circuit`);
  const circuit = new QuantumCircuit();
  circuit.importQASM(text, (errors) => {
    if (errors.length) throw new Error(JSON.stringify(errors));
  });
  const registers = [...text.matchAll(/^creg (outcome_\w+)\[(\d+)\];/gm)];
  const out = [];
  for (let shot = 0; shot < Number(shots); ++shot) {
    circuit.run();
    let bits = "";
    for (const [, name, size] of registers) {
      for (let k = 0; k < Number(size); ++k) bits += circuit.getCregBit(name, k) ? "1" : "0";
    }
    out.push(bits);
  }
  return out;
}

const counts = {};
for (const bits of text.startsWith("OPENQASM 3") ? await runVersion3() : runVersion2()) {
  counts[bits] = (counts[bits] ?? 0) + 1;
}
process.stdout.write(JSON.stringify(counts));
