import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeCertificates } from '../../../test/bridges/certificates.ts';
import { needsOpenssl } from '../../../test/support/openssl-or-skip.ts';
import { readBridges } from '../src/index.ts';

const ENDPOINT = 'a1b2c3d4e5f6g7-ats.iot.eu-west-1.amazonaws.com';
const TLS = { certificate: 'client.pem', key: 'client.key' };

let directory: string;

describe('the configuration of a bridge to IoT Core', needsOpenssl(), () => {
  beforeEach(() => {
    const certificates = makeCertificates();
    directory = certificates.directory;
    onTestFinished(certificates.remove);
  });

  function read(connection: object = {}, fields: object = {}) {
    const iotCore = { endpoint: ENDPOINT, tls: TLS, ...connection };
    const bridge = { name: 'things', iotCore, out: [{ filter: 'things/#' }], ...fields };
    const place = { where: 'b.json', directory, environment: {}, nowMs: Date.now() + 5_000 };
    return readBridges({ bridges: [bridge] }, place)[0];
  }

  test('a bridge to IoT Core connects to an MQTT 5 broker at port 8883, with a session of a week', () => {
    expect(read()).toMatchObject({
      ...{ kind: 'mqtt', url: `mqtts://${ENDPOINT}:8883`, protocolVersion: 5, clientId: 'apus-things' },
      ...{ keepAliveSeconds: 60, sessionExpirySeconds: 604_800, alpnProtocol: undefined },
    });
  });

  test('a bridge at port 443 names its protocol by ALPN', () => {
    expect(read({ endpoint: `${ENDPOINT}:443` })).toMatchObject({
      url: `mqtts://${ENDPOINT}:443`,
      alpnProtocol: 'x-amzn-mqtt-ca',
    });
  });

  test('a bridge may carry the same topics both ways', () => {
    expect(read({}, { in: [{ filter: 'things/#' }] })).toBeDefined();
  });

  test('a bridge over a WebSocket connects to port 443, with a URL that is signed for the Region of the endpoint', () => {
    expect(read({ tls: undefined, webSocket: true })).toMatchObject({
      url: `wss://${ENDPOINT}:443/mqtt`,
      signing: { region: 'eu-west-1' },
      tls: undefined,
    });
  });

  test.each<[string, object, object, string]>([
    ['a certificate for a WebSocket', { webSocket: true }, {}, 'tls has a certificate, which a WebSocket'],
    ['a region for a certificate', { region: 'eu-west-1' }, {}, 'region is for "webSocket": true'],
    [
      'a WebSocket without a region',
      { webSocket: true, tls: undefined, endpoint: 'iot.example.com' },
      {},
      'region is missing: the endpoint does not say it',
    ],
    ['no endpoint', { endpoint: undefined }, {}, 'b.json: bridges[0].iotCore.endpoint is missing'],
    [
      'a URL',
      { endpoint: `mqtts://${ENDPOINT}` },
      {},
      'endpoint has to be a name as a1b2c3d4e5f6g7-ats.iot.',
    ],
    ['no certificate', { tls: undefined }, {}, 'iotCore.tls is missing: "certificate" and "key" of a thing'],
    [
      'an expired certificate',
      { tls: { certificate: 'expired.pem', key: 'expired.key' } },
      {},
      'has expired',
    ],
    ['a password', { password: 'x' }, {}, 'bridges[0].iotCore has no field "password"'],
    ['a session of two weeks', { sessionExpirySeconds: 1_209_600 }, {}, 'from 1 to 604800'],
    ['QoS 2', {}, { out: [{ filter: 'a', qos: 2 }] }, 'out[0] has "qos": 2, which IoT Core does not have'],
    ['eight slashes', {}, { in: [{ filter: '1/2/3/4/5/6/7/8/#' }] }, 'in[0] has more than 7 slashes'],
    ['a long topic', {}, { out: [{ filter: 't'.repeat(257) }] }, 'out[0] has more than 256 bytes'],
  ])('it is refused with %s, and the message says where', (_, connection, fields, sentence) => {
    expect(() => read(connection, fields)).toThrow(sentence);
  });
});
