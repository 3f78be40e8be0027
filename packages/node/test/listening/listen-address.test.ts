import { describe, expect, test } from 'vitest';
import { parseListenAddress, urlOf } from '../../src/listening/listen-address.ts';
import { StartError } from '../../src/start-error.ts';

describe('an address to listen at', () => {
  test.each([
    ['tcp://0.0.0.0:1883', { scheme: 'tcp', host: '0.0.0.0', port: 1883 }],
    ['tcp://127.0.0.1', { scheme: 'tcp', port: 1883, needsCertificate: false }],
    ['tls://127.0.0.1?client-certificate=required', { scheme: 'tls', needsCertificate: true }],
    ['tls://[::]', { scheme: 'tls', host: '::', port: 8883 }],
    ['ws://127.0.0.1:0', { scheme: 'ws', port: 0 }],
    ['ws://127.0.0.1:80/mqtt', { scheme: 'ws', port: 80 }],
    ['wss://0.0.0.0:443/mqtt', { scheme: 'wss', port: 443 }],
    ['tcp://a.example:1?proxy-protocol', { host: 'a.example', port: 1, hasProxyProtocol: true }],
    [
      'wss://0.0.0.0?connections-max=5&origin=https://a.example&origin=https://b.example',
      { connectionsMax: 5, origins: ['https://a.example', 'https://b.example'], hasProxyProtocol: false },
    ],
  ])('%s', (text, fields) => {
    expect(parseListenAddress(text)).toMatchObject(fields);
  });

  test.each([
    ['1883', 'it is an address as tcp://0.0.0.0:1883'],
    ['mqtt://127.0.0.1', 'it begins with tcp://, tls://, ws://, wss://'],
    ['constructor://127.0.0.1', 'it begins with'],
    ['tcp:1883', 'the address of this machine is missing'],
    ['tcp://127.0.0.1:1883/mqtt', 'TCP has no path'],
    ['wss://127.0.0.1/other', 'MQTT over WebSocket is at /mqtt'],
    [
      'tcp://127.0.0.1?proxy',
      '"proxy" is none of proxy-protocol, client-certificate, origin, connections-max',
    ],
    ['tcp://127.0.0.1?origin=https://a.example', 'only web pages have an origin'],
    ['ws://127.0.0.1?origin=a.example', 'a.example'],
    ['tcp://127.0.0.1?client-certificate=required', 'is for addresses with TLS'],
    ['tls://127.0.0.1?client-certificate=asked', 'client-certificate=required'],
    ['tcp://127.0.0.1?connections-max=0', 'connections-max is a number from 1 up'],
    ['tcp://127.0.0.1?connections-max=many', 'connections-max is a number from 1 up'],
    ['tcp://127.0.0.1:99999', 'it is an address'],
  ])('that is wrong is told what: %s', (text, problem) => {
    expect(() => parseListenAddress(text)).toThrow(StartError);
    expect(() => parseListenAddress(text)).toThrow(problem);
  });

  test('is written with the port that was taken', () => {
    expect(urlOf(parseListenAddress('tcp://[::1]:0'), 9)).toBe('tcp://[::1]:9');
    expect(urlOf(parseListenAddress('wss://127.0.0.1:0'), 9)).toBe('wss://127.0.0.1:9/mqtt');
  });
});
