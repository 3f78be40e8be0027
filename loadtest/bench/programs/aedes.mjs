// Starts aedes with one WebSocket listener on 127.0.0.1, every client accepted, everything in memory.
import { createServer } from 'node:http';
import { Aedes } from 'aedes';
import { createWebSocketStream, WebSocketServer } from 'ws';

const broker = await Aedes.createBroker();
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket, request) => broker.handle(createWebSocketStream(socket), request));
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
