import { type AddressInfo, createServer } from 'node:net';
import WebSocket from 'ws';

/** A port of TCP in front of a broker that takes WebSockets alone: bytes pass as they come. */
export async function relayTo(url: string): Promise<{ readonly port: number; stop(): void }> {
  const server = createServer((socket) => {
    const far = new WebSocket(url, 'mqtt');
    const waiting: Buffer[] = [];
    socket.on('data', (bytes) => {
      if (far.readyState === WebSocket.OPEN) far.send(bytes);
      else waiting.push(bytes);
    });
    socket.on('error', () => {});
    socket.on('close', () => far.close());
    far.on('open', () => {
      for (const bytes of waiting.splice(0)) far.send(bytes);
    });
    far.on('message', (bytes: Buffer) => void socket.write(bytes));
    far.on('error', () => {});
    far.on('close', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() };
}
