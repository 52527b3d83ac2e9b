// The client: it starts `strata lsp` and hands its answers to the editor. All knowledge is the server's.

import { existsSync } from "node:fs";
import { join } from "node:path";

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("strata.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("strata.path") || change.affectsConfiguration("strata.arguments")) {
        void restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restart()),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.stop().catch(() => undefined);
  client = undefined;
  await start();
}

async function start(): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    return; // the setting names a program: it is not run for a folder that is not trusted
  }
  const settings = vscode.workspace.getConfiguration("strata");
  const command = program(settings.get<string>("path", ""));
  const args = settings.get<string[]>("arguments", ["lsp", "--stdio"]);
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "strata" },
      { scheme: "untitled", language: "strata" },
    ],
  };
  client = new LanguageClient("strata", "Strata", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const answer = await vscode.window.showErrorMessage(
      `Strata: \`${command} ${args.join(" ")}\` cannot be started (${error instanceof Error ? error.message : error}). ` +
        "Install it with `pip install 'strata-tables[editor]'`, or set `strata.path`.",
      "Open Settings",
    );
    if (answer !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "strata.path");
    }
  }
}

// The program that `setting` names; without one that of the project's own environment, else the one on the PATH.
function program(setting: string): string {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  if (setting !== "") {
    return setting.replaceAll("${workspaceFolder}", folders[0] ?? "");
  }
  const own = process.platform === "win32" ? ["Scripts", "strata.exe"] : ["bin", "strata"];
  return folders.map((folder) => join(folder, ".venv", ...own)).find((path) => existsSync(path)) ?? "strata";
}
