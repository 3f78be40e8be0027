import { expect, test } from 'vitest';
import { urlHelp } from '../../src/features/connections/url-help.ts';

test.each([
  ['mqtt://broker.example', 'tcp', 'ws://broker.example:8083/mqtt'],
  ['mqtt://broker.example:1883', 'tcp', 'ws://broker.example:8083/mqtt'],
  ['MQTTS://broker.example:8883', 'tcp', 'wss://broker.example:8084/mqtt'],
  ['tcp://10.0.0.7:2883', 'tcp', 'ws://10.0.0.7:2883/mqtt'],
  ['ssl://ada@broker.example', 'tcp', 'wss://ada@broker.example:8084/mqtt'],
  ['localhost:8083', 'bare', 'ws://localhost:8083/mqtt'],
  ['localhost', 'bare', 'ws://localhost/mqtt'],
  ['localhost:1883', 'bare', 'ws://localhost:8083/mqtt'],
  ['broker:9001', 'bare', 'ws://broker:9001/mqtt'],
  ['broker.example', 'bare', 'wss://broker.example/mqtt'],
  ['broker.example:8084', 'bare', 'wss://broker.example:8084/mqtt'],
  ['192.168.1.5:9001/ws', 'bare', 'ws://192.168.1.5:9001/ws'],
  ['[::1]:8083', 'bare', 'ws://[::1]:8083/mqtt'],
  ['https://broker.example/broker?x=1', 'web', 'wss://broker.example/broker?x=1'],
  ['http://127.0.0.1:8083/', 'web', 'ws://127.0.0.1:8083/mqtt'],
])('%s is helped along as %s to %s', (text, reason, url) => {
  expect(urlHelp(text, false)).toMatchObject({ reason, url });
});

test.each([
  '',
  'w',
  'ws',
  'ws:',
  'wss://',
  'ws://broker.example',
  'wss://x/mqtt',
  'bro',
  'a b.c',
  'ftp://a.b',
  'constructor://a.b',
  'x:',
  'a.b:99999',
])('%j needs no help, or gets none', (text) => {
  expect(urlHelp(text, false)).toBeUndefined();
});

test('a page that came by HTTPS is led to wss://, but for the machine that it runs on', () => {
  expect(urlHelp('10.0.0.7:8083', true)?.url).toBe('wss://10.0.0.7:8083/mqtt');
  expect(urlHelp('localhost:8083', true)?.url).toBe('ws://localhost:8083/mqtt');
});
