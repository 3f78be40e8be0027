import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needsOpenssl } from '../../../test/support/openssl-or-skip.ts';
import { readBridges, readBridgesFile } from '../src/index.ts';

const NOW_MS = Date.parse('2030-01-01T00:00:00Z');

function read(value: unknown, environment: Record<string, string> = {}, directory = '.') {
  return readBridges(value, { where: 'b.json', directory, environment, nowMs: NOW_MS });
}

/** A bridge with these fields, and those that every bridge needs. */
function mqtt(fields: object = {}, connection: object = {}) {
  const out = [{ filter: 'a/#' }];
  return {
    bridges: [{ name: 'plant', mqtt: { url: 'mqtt://broker.example', ...connection }, out, ...fields }],
  };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'apus-bridges-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe('a bridge to an MQTT broker', () => {
  test('has defaults for everything but its URL and its topics', () => {
    expect(read(mqtt())).toEqual([
      expect.objectContaining({
        kind: 'mqtt',
        name: 'plant',
        tenant: 'default',
        hopsMax: 4,
        url: 'mqtt://broker.example',
        protocolVersion: 5,
        clientId: 'apus-plant',
        keepAliveSeconds: 60,
        in: [],
        out: [{ filter: 'a/#', localPrefix: '', remotePrefix: '', qos: 1, retain: true }],
      }),
    ]);
  });

  test('takes its password from the environment, or from a file beside it', () => {
    const directory = folder();
    writeFileSync(join(directory, 'secret'), 'from a file\n');
    expect(read(mqtt({}, { password: { env: 'PW' } }), { PW: 'secret' })[0]).toMatchObject({
      password: 'secret',
    });
    const [bridge] = read(mqtt({}, { password: { file: 'secret' } }), {}, directory);
    expect(bridge).toMatchObject({ password: 'from a file' });
  });

  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['no list', { bridges: {} }, 'b.json: bridges has to be a list of 1 to 32 bridges.'],
    ['another field', { bridge: [] }, 'b.json has no field "bridge". There are bridges.'],
    ['no name', { bridges: [{ mqtt: {} }] }, 'b.json: bridges[0].name is missing'],
    [
      'a name twice',
      { bridges: [mqtt().bridges[0], mqtt().bridges[0]] },
      'bridges[1].name: there are two "plant"',
    ],
    ['a misspelt field', mqtt({ outt: [] }), 'b.json: bridges[0] has no field "outt"'],
    ['a misspelt field of the connection', mqtt({}, { user: 'x' }), 'bridges[0].mqtt has no field "user"'],
    ['no URL', mqtt({}, { url: undefined }), 'bridges[0].mqtt.url is missing'],
    ['a bad URL', mqtt({}, { url: 'broker.example' }), 'mqtt.url has to be a URL that begins with mqtt:'],
    [
      'a URL of HTTP',
      mqtt({}, { url: 'https://broker.example' }),
      'mqtt.url has to be a URL that begins with mqtt:',
    ],
    [
      'a password in the URL',
      mqtt({}, { url: 'mqtt://a:b@broker' }),
      'mqtt.url has no user and password in it',
    ],
    ['an unknown version', mqtt({}, { version: '4' }), 'mqtt.version has to be "3.1.1" or "5"'],
    [
      'a secret that is not set',
      mqtt({}, { password: { env: 'PW' } }),
      'the environment variable PW is not set',
    ],
    [
      'a secret with the name of an inherited member',
      mqtt({}, { password: { env: 'constructor' } }),
      'the environment variable constructor is not set',
    ],
    [
      'a secret of another form',
      mqtt({}, { password: { vault: 'x' } }),
      'has to be a text, {"env": "NAME"} or {"file"',
    ],
    ['TLS without TLS', mqtt({}, { tls: {} }), 'mqtt.tls is for a URL that begins with mqtts: or wss:'],
    ['no topics', mqtt({ out: [] }), 'bridges[0].in and "out" are empty'],
    [
      'a wildcard in a prefix',
      mqtt({ out: [{ filter: '#', localPrefix: 'a/+/' }] }),
      'out[0].localPrefix has no wildcards',
    ],
    ['U+0000 in a filter', mqtt({ out: [{ filter: 'a\0' }] }), 'out[0].filter cannot be behind its prefix'],
    [
      '# behind half a level',
      mqtt({ out: [{ filter: '#', localPrefix: 'a' }] }),
      'has # only as its whole last level: "a#"',
    ],
    [
      'a shared subscription',
      mqtt({ in: [{ filter: '$share/g/a', localPrefix: 'x/' }] }),
      'filter has to be without $share',
    ],
    ["the broker's own topics", mqtt({ in: [{ filter: '$SYS/#' }] }), "these are the broker's own"],
    ['QoS 3', mqtt({ out: [{ filter: 'a', qos: 3 }] }), 'out[0].qos has to be a whole number from 0 to 2'],
    [
      'a topic twice',
      mqtt({ out: [{ filter: 'a/#' }, { filter: 'a/b', remotePrefix: 'x/' }] }),
      'out[1] has topics in common with b.json: bridges[0].out[0]: a/b and a/# here',
    ],
    [
      'two topics in one',
      mqtt({
        in: [
          { filter: 'a/#', localPrefix: 'l/' },
          { filter: 'a/#', localPrefix: 'l/', remotePrefix: 'r/' },
        ],
      }),
      'in[1] has topics in common',
    ],
    [
      'a way round in MQTT 3.1.1',
      mqtt({ in: [{ filter: 'a/b' }] }, { version: '3.1.1' }),
      'would send messages round',
    ],
    ['the bridge bit in MQTT 5', mqtt({}, { bridgeMode: true }), 'bridgeMode is for MQTT 3.1.1'],
  ];
  test.each(wrong)('is refused with %s, and the error names the place', (_what, value, message) => {
    expect(() => read(value)).toThrow(message);
  });

  test('may send both ways over the same topics in MQTT 5, and to a Mosquitto', () => {
    const both = { in: [{ filter: 'a/#' }] };
    expect(read(mqtt(both))).toHaveLength(1);
    expect(read(mqtt(both, { version: '3.1.1', bridgeMode: true }))).toHaveLength(1);
  });
});

describe('a bridge to Kafka', () => {
  const IN = { topic: 'prices', to: 'prices/{key}' };
  const OUT = { filter: 'orders/+/new', topic: 'orders', key: '{2}' };
  const kafka = (fields: object = {}, connection: object = {}) => ({
    bridges: [
      { name: 'market', kafka: { brokers: ['kafka.example:9092'], ...connection }, in: [IN], ...fields },
    ],
  });

  test('has defaults for everything but its brokers and its topics', () => {
    expect(read(kafka({ out: [{ filter: 'events/#', topic: 'events' }] }))[0]).toMatchObject({
      kind: 'kafka',
      group: 'apus-market',
      from: 'earliest',
      waitSeconds: 10,
      in: [{ topic: 'prices', to: { text: 'prices/{key}', names: ['key'] }, qos: 1, retain: false }],
      out: [{ filter: 'events/#', topic: 'events', key: { text: '{topic}' } }],
    });
  });

  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['no brokers', kafka({}, { brokers: undefined }), 'bridges[0].kafka.brokers is missing'],
    [
      'a broker without a port',
      kafka({}, { brokers: ['kafka'] }),
      'kafka.brokers has to be addresses as "kafka.example:9092", not "kafka"',
    ],
    ['a port that is none', kafka({}, { brokers: ['kafka:99999'] }), 'not "kafka:99999"'],
    ['no topics', kafka({ in: [] }), 'bridges[0].in and "out" are empty'],
    [
      'a name that Kafka does not take',
      kafka({ in: [{ ...IN, topic: 'a/b' }] }),
      'in[0].topic has to have 1 to 249 letters',
    ],
    [
      'another placeholder',
      kafka({ in: [{ ...IN, to: 'p/{id}' }] }),
      'in[0].to has no placeholder {id}: there are {key}',
    ],
    ['an open brace', kafka({ in: [{ ...IN, to: 'p/{key' }] }), 'in[0].to has a brace that is not closed'],
    [
      'a wildcard',
      kafka({ in: [{ ...IN, to: 'p/+' }] }),
      'in[0].to is no topic of MQTT. A topic name has no wildcards',
    ],
    ['U+0000', kafka({ in: [{ ...IN, to: 'p/\0' }] }), 'A topic name has no U+0000'],
    [
      "the broker's own topics",
      kafka({ in: [{ ...IN, to: '$SYS/{key}' }] }),
      "begins with $: such topics are the broker's own",
    ],
    [
      'a Kafka topic twice',
      kafka({ in: [IN, { ...IN, to: 'x' }] }),
      'in[1] has topics in common with b.json: bridges[0].in[0]',
    ],
    [
      'two Kafka topics in one of MQTT',
      kafka({ in: [IN, { topic: 'other', to: 'prices/x/{key}' }] }),
      'in[1] has topics in common',
    ],
    ['a filter that is none', kafka({ out: [{ ...OUT, filter: 'a#' }] }), 'out[0].filter is no topic filter'],
    [
      'a level that is not there',
      kafka({ out: [{ ...OUT, key: '{2}{4}' }] }),
      'out[0].key has no placeholder {4}',
    ],
    [
      'two topics in one key',
      kafka({ out: [{ ...OUT, key: '{1}' }] }),
      'out[0].key maps two topics onto one: level 2 of orders/+/new is not in it. Add {2}, or "merge": true',
    ],
    [
      'a key that does not tell what # stands for',
      kafka({ out: [{ filter: 'a/#', topic: 'x', key: '{1}' }] }),
      'Add {topic}',
    ],
    [
      'a topic that leaves twice',
      kafka({ out: [OUT, { filter: '#', topic: 'all' }] }),
      'out[1] has topics in common with',
    ],
    [
      'a way round',
      kafka({ out: [{ filter: 'prices/#', topic: 'prices' }] }),
      'would send messages round: prices comes in as prices/#',
    ],
    [
      'SASL without a password',
      kafka({}, { sasl: { mechanism: 'PLAIN', username: 'a' } }),
      'kafka.sasl.password is missing',
    ],
    [
      'another mechanism',
      kafka({}, { sasl: { mechanism: 'GSSAPI' } }),
      'sasl.mechanism has to be one of "PLAIN"',
    ],
    [
      'a wait that is too long',
      kafka({}, { waitSeconds: 100 }),
      'kafka.waitSeconds has to be a whole number from 1 to 60',
    ],
  ];
  test.each(wrong)('is refused with %s, and the error names the place', (_what, value, message) => {
    expect(() => read(value)).toThrow(message);
  });

  test('may merge topics if that is intended, and tells Kafka’s topics apart by their names', () => {
    expect(read(kafka({ out: [{ ...OUT, key: '{1}', merge: true }] }))).toHaveLength(1);
    const named = ['a', 'b'].map((topic) => ({ topic, to: '{topic}/{key}' }));
    expect(read(kafka({ in: named }))).toHaveLength(1);
  });
});

describe('certificates', needsOpenssl(), () => {
  /** Made today, so that it has expired by 2030. */
  function withCertificate(): string {
    const directory = folder();
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
    ];
    execFileSync('openssl', [...args, '-subj', '/CN=test', '-keyout', 'key.pem', '-out', 'cert.pem'], {
      cwd: directory,
      stdio: 'ignore',
    });
    return directory;
  }

  const secure = (tls: object) => mqtt({}, { url: 'mqtts://broker.example', tls });

  test('are read with their key', () => {
    const directory = withCertificate();
    const tls = { ca: 'cert.pem', certificate: 'cert.pem', key: 'key.pem' };
    const place = { where: 'b.json', directory, environment: {}, nowMs: Date.now() + 60_000 };
    expect(readBridges(secure(tls), place)[0]).toMatchObject({
      tls: { ca: expect.stringContaining('BEGIN CERTIFICATE'), key: expect.stringContaining('PRIVATE KEY') },
    });
  });

  test('are refused if they have expired, are missing, are invalid or have no key', () => {
    const directory = withCertificate();
    expect(() => read(secure({ ca: 'cert.pem' }), {}, directory)).toThrow(
      /bridges\[0\]\.mqtt\.tls\.ca has expired: cert\.pem was valid until/,
    );
    expect(() => read(secure({ ca: 'other.pem' }), {}, directory)).toThrow(/tls\.ca cannot be read: ENOENT/);
    expect(() => read(secure({ ca: 'key.pem' }), {}, directory)).toThrow(/tls\.ca has no certificate/);
    expect(() => read(secure({ key: 'key.pem' }), {}, directory)).toThrow(/tls\.certificate is missing/);
  });
});

test('in a missing file, or one that is no JSON, are refused with its name', () => {
  const path = join(folder(), 'b.json');
  expect(() => readBridgesFile(path)).toThrow(`${path}: ENOENT`);
  writeFileSync(path, '{');
  expect(() => readBridgesFile(path)).toThrow(`${path}: `);
});
