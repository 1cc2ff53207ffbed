// Starts fuser-lsp for .fir files. Everything else the server and the grammar do.

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  const command = vscode.workspace.getConfiguration('fuser').get('server.path', 'fuser-lsp');
  client = new LanguageClient('fuser', 'Fuser', { command }, { documentSelector: [{ language: 'fir' }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
