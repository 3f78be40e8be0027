// Starts aedes with one listener on 127.0.0.1, every client accepted, everything in memory: aedes.mjs PORT ws|tcp|tls
// [CERT KEY]
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Aedes } from 'aedes';
import { createWebSocketStream, WebSocketServer } from 'ws';

const [port, wire, cert, key] = process.argv.slice(2);
const broker = await Aedes.createBroker();
const servers = {
  ws: overWebSocket,
  tcp: () => createTcpServer({ noDelay: true }, broker.handle),
  tls: () =>
    createTlsServer({ cert: readFileSync(cert), key: readFileSync(key), noDelay: true }, broker.handle),
};
servers[wire]().listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));

function overWebSocket() {
  const server = createHttpServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket, request) => broker.handle(createWebSocketStream(socket), request));
  return server;
}
