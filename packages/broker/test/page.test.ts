import type { UserProperties } from '@apus/mqtt';
import { expect, test } from 'vitest';
import { messageBytes } from '../src/index.ts';

test('the user properties of a message are counted once, however many queues ask [SEC-WORK-7]', () => {
  let looks = 0;
  const [first, ...others] = Array.from({ length: 1000 }, (): [string, string] => ['key', 'value']);
  const counted: UserProperties = [
    new Proxy(first ?? ['', ''], {
      get: (pair, key) => {
        if (key === Symbol.iterator) looks += 1;
        return Reflect.get(pair, key);
      },
    }),
    ...others,
  ];
  const message = { topic: 'a', payload: new Uint8Array(1), properties: { userProperties: counted } };
  const bytes = messageBytes(message);
  for (let queue = 0; queue < 100; queue += 1) expect(messageBytes(message)).toBe(bytes);
  expect(bytes).toBe(2 + 1000 * (3 + 5 + 32));
  expect(looks).toBe(1);
});
