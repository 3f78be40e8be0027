import { connect as connectInTextFrames, type TransportEvent } from '@apus/client';
import mqtt from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';
import { tokenFor } from '../support/token.ts';

const LIFE_SECONDS = 15;
const MESSAGES = 50;
const EVERY_MS = 1_000;

/** Events that a program would notice of a connection that ends. */
const NOTICED = ['close', 'offline', 'reconnect', 'disconnect', 'error'] as const;

describe('a token', () => {
  it('is renewed on the open connection through three lifetimes, and no message is lost', {
    timeout: 180_000,
  }, async () => {
    const topic = unique('renewal');
    const events: TransportEvent[] = [];
    const noticed: string[] = [];
    const received: string[] = [];
    const program = connectInTextFrames(
      mqtt,
      deployed.url,
      { protocolVersion: 5, clientId: unique('program') },
      {
        token: () => tokenFor('program', { expiresInSeconds: LIFE_SECONDS }),
        onEvent: (event) => events.push(event),
      },
    );
    onTestFinished(() => program.endAsync(true).then(() => {}));
    await new Promise((resolve) => program.once('connect', resolve));
    for (const name of NOTICED) program.on(name, () => noticed.push(name));
    program.on('message', (_topic, payload) => received.push(payload.toString()));
    await program.subscribeAsync(topic, { qos: 1 });
    const publisher = await connectClient();
    const numbers = Array.from({ length: MESSAGES }, (_, index) => String(index));
    for (const number of numbers) {
      await publisher.mqtt.publishAsync(topic, number, { qos: 1 });
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await expect.poll(() => received).toEqual(numbers);
    expect(noticed).toEqual([]);
    expect(events.filter(({ type }) => type === 'renewed').length).toBeGreaterThanOrEqual(3);
  });
});
