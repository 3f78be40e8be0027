import { PostToConnectionCommand } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import type { DisconnectEvent } from '../src/index.ts';
import { Client, managementClient, ok, start } from './support.ts';

test('a client connects, is answered by the route response, is posted to, and its end is reported', async () => {
  let disconnected: DisconnectEvent | undefined;
  const emulator = await start((environment) => {
    const client = managementClient(environment);
    return {
      default: async (event) => {
        const { connectionId: ConnectionId } = event.requestContext;
        await client.send(new PostToConnectionCommand({ ConnectionId, Data: `posted ${event.body}` }));
        return { ...ok, body: `replied ${event.body}` };
      },
      disconnect: async (event) => {
        disconnected = event;
        return ok;
      },
    };
  });
  const client = await Client.open(emulator.url);
  client.send('hello');
  expect((await client.nextMessages(2)).sort()).toEqual(['posted hello', 'replied hello']);
  client.socket.close(1000, 'bye');
  await client.closed;
  await emulator.quiet();
  expect(disconnected?.requestContext).toMatchObject({ disconnectStatusCode: 1000, disconnectReason: 'bye' });
});
