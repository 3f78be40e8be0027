import type { AllowedOrigins } from '@apus/door';
import { describe, expect, it } from 'vitest';
import { type ConnectEvent, handleConnect } from '../../src/index.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const links = { load: () => undefined, save: () => true, remove: () => {} };

function connectFrom(headers: Record<string, string>, allowedOrigins: AllowedOrigins) {
  const event = {
    headers: { 'Sec-WebSocket-Protocol': 'mqtt-text-v1', ...headers },
    requestContext: { connectionId: 'c1' },
  } as unknown as ConnectEvent;
  const options = { links, tokens: undefined, allowedOrigins, log: silent };
  return handleConnect(options as unknown as Parameters<typeof handleConnect>[0], event);
}

describe('a deployment with a list of origins', () => {
  const list = ['https://app.example'];

  it.each(['https://evil.example', 'null', 'http://localhost', 'https://app.example.evil.example'])(
    '[SEC-ORIGIN-1] refuses a page of %s with 403 and a sentence',
    async (origin) => {
      const answer = await connectFrom({ ORIGIN: origin }, list);
      expect(answer).toMatchObject({ statusCode: 403, body: expect.stringContaining('allowedOrigins') });
    },
  );

  it('takes a page of an origin in it, and a program that names none', async () => {
    expect(await connectFrom({ origin: 'https://app.example' }, list)).toMatchObject({ statusCode: 200 });
    expect(await connectFrom({}, list)).toMatchObject({ statusCode: 200 });
  });
});

it('a deployment without a list takes pages of every site', async () => {
  expect(await connectFrom({ Origin: 'https://evil.example' }, 'any')).toMatchObject({ statusCode: 200 });
});
