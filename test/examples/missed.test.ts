import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDoors } from '@apus/cli';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

const EXAMPLES = fileURLToPath(new URL('../../examples/run.mjs', import.meta.url));
const run = promisify(execFile);

async function outputOf(env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, [EXAMPLES, 'missed'], { env: { ...process.env, ...env } });
  return stdout.trim();
}

test('a subscriber receives what was published while its connection was gone', async () => {
  const doors = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent' });
  onTestFinished(() => doors.stop());
  expect(await outputOf({ APUS_URL: doors.gateway?.url ?? '' })).toBe('Apus: received 1, 2, 3, 4, 5, 6');
});

/**
 * An Event API as its documentation describes it: a subscription belongs to a connection, and an event goes to the
 * subscriptions that are there.
 */
async function startEventApi(): Promise<Record<string, string>> {
  const subscribers = new Map<WebSocket, { id: string; channel: string }>();
  const server = createServer(async (request, response) => {
    const { channel, events } = JSON.parse(String(Buffer.concat(await request.toArray())));
    for (const [socket, { id, channel: wanted }] of subscribers)
      for (const event of wanted === channel ? events : [])
        socket.send(JSON.stringify({ type: 'data', id, event }));
    response.end('{}');
  });
  const handleProtocols = () => 'aws-appsync-event-ws';
  new WebSocketServer({ server, handleProtocols }).on('connection', (socket) => {
    socket.on('close', () => subscribers.delete(socket));
    socket.on('message', (data) => {
      const { type, id, channel } = JSON.parse(String(data));
      if (type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }));
      if (type !== 'subscribe') return;
      subscribers.set(socket, { id, channel });
      socket.send(JSON.stringify({ type: 'subscribe_success', id }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return {
    APPSYNC_HTTP_URL: `http://127.0.0.1:${port}/event`,
    APPSYNC_REALTIME_URL: `ws://127.0.0.1:${port}/event/realtime`,
    APPSYNC_API_KEY: 'da2-example',
  };
}

test('at AppSync Events, by its documentation, it does not', async () => {
  expect(await outputOf(await startEventApi())).toBe('AWS AppSync Events: received 1, 2, 5, 6');
});
