// The grammar gives every part of a program the scope that stands here, and every program of the repository has an end.

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
const { createOnigScanner, createOnigString, loadWASM } = require("vscode-oniguruma");

const ROOT = path.join(__dirname, "..", "..", "..");
const GRAMMAR = path.join(__dirname, "..", "syntaxes", "strata.tmLanguage.json");

async function grammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).catch(() => undefined);
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(GRAMMAR, "utf8"), GRAMMAR),
  });
  return registry.loadGrammar("source.strata");
}

function tokens(grammar, line, state = INITIAL) {
  const found = grammar.tokenizeLine(line, state);
  const told = found.tokens
    .map((t) => [line.slice(t.startIndex, t.endIndex), t.scopes.at(-1).replace(/\.strata$/, "")])
    .filter(([text]) => text.trim() !== "");
  return { told, state: found.ruleStack };
}

const LINES = {
  'model paid -> contract Paid { // why': [
    ["model", "keyword.control.declaration"], ["paid", "entity.name.type"], ["->", "keyword.operator.arrow"],
    ["contract", "keyword.control.declaration"], ["Paid", "entity.name.type"], [" { ", "source"],
    ["// why", "comment.line.double-slash"],
  ],
  '  filter amount >= 1_000.5 and not country in ["ES", "a\\n"]': [
    ["filter", "keyword.control.statement"], ["amount", "variable.other"], [">=", "keyword.operator"],
    ["1_000.5", "constant.numeric.float"], ["and", "keyword.operator.word"], ["not", "keyword.operator.word"],
    ["country", "variable.other"], ["in", "keyword.operator.word"], [" [", "source"], ['"', "string.quoted.double"],
    ["ES", "string.quoted.double"], ['"', "string.quoted.double"], [", ", "source"], ['"', "string.quoted.double"],
    ["a", "string.quoted.double"], ["\\n", "constant.character.escape"], ['"', "string.quoted.double"], ["]", "source"],
  ],
  "  total: decimal(10, 2) nonnull protected": [
    ["total", "variable.other.property"], [":", "punctuation.separator"], ["decimal", "support.type"], ["(", "source"],
    ["10", "constant.numeric.integer"], [", ", "source"], ["2", "constant.numeric.integer"], [") ", "source"],
    ["nonnull", "storage.modifier"], ["protected", "storage.modifier"],
  ],
  "  select { `unit price`, x = sum(amount), like = none }  freshness <= 12h": [
    ["select", "keyword.control.statement"], [" { ", "source"], ["`unit price`", "variable.other.quoted"],
    [", ", "source"], ["x", "variable.other"], ["=", "keyword.operator"], ["sum", "entity.name.function"],
    ["(", "source"], ["amount", "variable.other"], ["), ", "source"], ["like", "variable.other"],
    ["=", "keyword.operator"], ["none", "constant.language"], [" }  ", "source"],
    ["freshness", "keyword.control.statement"], ["<=", "keyword.operator"], ["12h", "constant.numeric.duration"],
  ],
};

test("each part of a line has its scope", async () => {
  const made = await grammar();
  for (const [line, expected] of Object.entries(LINES)) {
    assert.deepStrictEqual(tokens(made, line).told, expected, line);
  }
});

function programs(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name.startsWith(".") || entry.name === "node_modules" ? [] : programs(full);
    }
    return entry.name.endsWith(".strata") ? [full] : [];
  });
}

test("every program of the repository is coloured to its end", async () => {
  const made = await grammar();
  const files = programs(ROOT);
  assert.ok(files.length >= 4, `${files.length} programs`);
  for (const file of files) {
    let state = INITIAL;
    for (const line of fs.readFileSync(file, "utf8").split("\n")) {
      const found = tokens(made, line, state);
      state = found.state;
      for (const [text, scope] of found.told) {
        assert.ok(scope !== "source" || /^[\s(){}[\],;.:]+$/.test(text), `${file}: ${JSON.stringify(text)} of ${line}`);
      }
    }
    assert.strictEqual(state.depth, 1, `${file} ends inside a string or comment`);
  }
});
