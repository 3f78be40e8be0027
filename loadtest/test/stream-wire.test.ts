import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needsOpenssl } from '../../test/support/openssl-or-skip.ts';
import { makeCertificate } from '../bench/wires.ts';
import { brokerForTest, folderForTest, runForTest, scenarioOf, streamListener } from './support.ts';

const pairs = (qos: 0 | 1 | 2) => [
  { name: 'subscribers', clients: 5, subscribe: { filters: ['pair/{client}'], qos } },
  {
    name: 'publishers',
    clients: 5,
    publish: { topic: 'pair/{client}', qos, payloadBytes: 16, perSecond: 50 },
  },
];

const ALL_ONCE = { expected: 50, received: 50, lost: 0, inDoubt: 0, duplicates: 0, outOfOrder: 0 };

/** A node with a listener of the scheme beside the one for WebSockets. */
async function nodeOver(scheme: 'tcp' | 'tls') {
  const certificate = scheme === 'tls' ? makeCertificate(folderForTest()) : undefined;
  const files = certificate && { cert: certificate.certFile, key: certificate.keyFile };
  const node = await brokerForTest({
    listen: [streamListener(scheme)],
    ...(files !== undefined && { certificates: [files] }),
  });
  const url = node.urls.find((each) => each.startsWith(`${scheme}:`));
  if (url === undefined) throw new Error(`the node does not listen at ${scheme}`);
  return { url, ...(certificate !== undefined && { trust: { certificateAuthority: certificate.pem } }) };
}

describe.each([
  ['tcp', { skip: false }],
  ['tls', needsOpenssl()],
] as const)('the fast generator over %s', (scheme, skip) => {
  it.each([0, 1, 2] as const)('delivers all messages once and in order, QoS %i', skip, async (qos) => {
    const { url, trust } = await nodeOver(scheme);
    const { outcome, run } = await runForTest(scenarioOf({ groups: pairs(qos) }), url, 'node', trust);
    expect(run.problems).toEqual([]);
    expect(outcome.problems).toEqual({});
    expect(outcome.connections).toMatchObject({ asked: 10, connected: 10, lost: 0 });
    expect(outcome.deliveries).toMatchObject(ALL_ONCE);
  });

  it('has all handshakes made through a window of a few', skip, async () => {
    const { url, trust } = await nodeOver(scheme);
    const groups = [{ name: 'connections', clients: 40 }];
    const scenario = scenarioOf({ connectsPerSecond: 100_000, connectWindow: 3, groups });
    const { outcome } = await runForTest(scenario, url, 'node', trust);
    expect(outcome.connections).toMatchObject({ asked: 40, connected: 40, lost: 0 });
  });

  it('says what is wrong when no server listens, in the words for WebSocket', skip, async () => {
    const running = runForTest(scenarioOf({ groups: pairs(0) }), `${scheme}://127.0.0.1:1`, 'node');
    await expect(running).rejects.toThrow('no server listens at 127.0.0.1:1');
  });
});

describe('the fast generator', () => {
  it('trusts no certificate but the one it is given', needsOpenssl(), async () => {
    const { url } = await nodeOver('tls');
    const other = { certificateAuthority: makeCertificate(folderForTest()).pem };
    await expect(runForTest(scenarioOf({ groups: pairs(0) }), url, 'node')).rejects.toThrow(
      /the certificate of 127\.0\.0\.1:\d+ is self-signed/,
    );
    await expect(runForTest(scenarioOf({ groups: pairs(0) }), url, 'node', other)).rejects.toThrow(
      /self-signed/,
    );
  });

  it('reports a broker that ends its connections', async () => {
    const url = await serverForTest((socket) => socket.end());
    await expect(runForTest(scenarioOf({ groups: pairs(0) }), url, 'node')).rejects.toThrow(
      'the broker closed the connection',
    );
  });

  it('counts no connection as lost whose CONNACK comes when the run has ended', async () => {
    const stop = new AbortController();
    const url = await serverForTest(() => stop.abort(), Buffer.from([0x20, 2, 0, 0]));
    const scenario = scenarioOf({
      mqttVersion: '3.1.1',
      groups: [{ name: 'connections', clients: 1 }],
    });
    const { outcome } = await runForTest(scenario, url, 'node', { stop: stop.signal });
    expect(outcome.connections).toMatchObject({ asked: 1, connected: 0, lost: 0 });
    expect(outcome.problems).toEqual({});
  });

  it('has no more handshakes under way than the window', async () => {
    const stop = new AbortController();
    let connections = 0;
    // It answers no CONNECT.
    const url = await serverForTest(() => {
      connections += 1;
      if (connections === 3) stop.abort();
    });
    const groups = [{ name: 'connections', clients: 40 }];
    const scenario = scenarioOf({ connectsPerSecond: 100_000, connectWindow: 3, groups });
    const { outcome } = await runForTest(scenario, url, 'node', { stop: stop.signal });
    expect(outcome.connections).toMatchObject({ asked: 3, connected: 0 });
  });
});

/** It says the last bytes when the client has ended its side. */
async function serverForTest(
  take: (socket: Socket) => void,
  lastBytes: Buffer = Buffer.alloc(0),
): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}).resume();
    socket.on('end', () => socket.end(lastBytes));
    take(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
