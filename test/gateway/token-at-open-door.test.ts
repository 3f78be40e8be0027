import { startDoors } from '@apus/cli';
import { connect as connectInTextFrames } from '@apus/client';
import { mintToken } from '@apus/identity';
import * as mqtt from 'mqtt';
import { expect, onTestFinished, test } from 'vitest';

const SECRET = Buffer.from('0123456789abcdef0123456789abcdef');

/** A program with tokens that is tried at `npm start`, which asks for none. */
test.each([
  ['5', { protocolVersion: 5 }],
  ['5, with a will', { protocolVersion: 5, will: { topic: 'gone', payload: Buffer.from('x') } }],
  ['5, and never reconnects', { protocolVersion: 5, reconnectPeriod: 0 }],
  ['3.1.1', { protocolVersion: 4 }],
] as const)(
  'a client of MQTT %s with tokens sees nothing of it where the server asks for none',
  async (_version, options) => {
    const node = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent' });
    onTestFinished(() => node.stop());
    let asked = 0;
    const token = () => {
      asked += 1;
      return mintToken(SECRET, { sub: 'ada', expiresInSeconds: 600, nowMs: Date.now() });
    };
    const client = connectInTextFrames(mqtt, node.gateway?.url ?? '', options, { token });
    onTestFinished(() => void client.end(true));
    const noticed: string[] = [];
    for (const name of ['close', 'disconnect', 'error', 'offline', 'reconnect'] as const)
      client.on(name, () => void noticed.push(name));
    const received = new Promise<string>((resolve) => {
      client.on('message', (_topic, payload) => resolve(payload.toString()));
    });
    await client.subscribeAsync('news', { qos: 1 });
    await client.publishAsync('news', 'read', { qos: 1 });
    expect(await received).toBe('read');
    expect({ noticed, asked }).toEqual({ noticed: [], asked: 1 });
  },
);
