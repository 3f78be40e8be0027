import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect as connectInTextFrames } from '@apus/client';
import { open } from 'lmdb';
import * as mqtt from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Built, outcomeOf } from './support/built.ts';

const apus = new Built();

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe('a data directory of an older version', () => {
  test('stops the start with a sentence that says what to do, and stays unchanged', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'apus.mdb');
    const database = open<Buffer, string>({
      path,
      noSubdir: true,
      encoding: 'binary',
      overlappingSync: false,
    });
    await database.put('v', Buffer.from('1'));
    await database.put('session', Buffer.from('of long ago'));
    await database.close();
    const before = hashOf(path);
    const { code, stdout, stderr } = await apus.run(['serve', '--port', '0', '--data', directory]);
    expect(stderr.trim().split('\n')).toEqual([
      `apus: ${path} has format 1, and this version reads format 2. It was written by an older version of Apus: start with an empty directory, or go back to that version.`,
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(hashOf(path)).toBe(before);
  });
});

/** Blocks of 512 bytes. */
const FILE_BLOCKS_MAX = 4096;

describe('a disk that takes no more', () => {
  /** A process whose files may not grow beyond a number of blocks: a write is cut short, and the next one refused. */
  const serveWithin = (blocks: number, directory: string) => {
    const command = [
      join(apus.directory, 'apus.js'),
      'serve',
      '--port',
      '0',
      '--no-gateway',
      '--data',
      directory,
    ];
    const child = spawn('sh', ['-c', `ulimit -f ${blocks} && exec node "$@"`, 'sh', ...command]);
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };

  test('while the broker runs: it says why, and ends with status 1', async () => {
    const child = serveWithin(FILE_BLOCKS_MAX, temporaryDirectory());
    const ended = outcomeOf(child);
    const url = (await urlsOf(child)).get('MQTT');
    const client = await mqtt.connectAsync(url ?? '', { reconnectPeriod: 0 });
    onTestFinished(() => void client.end(true));
    const isClosed = new Promise<void>((resolve) => client.once('close', () => resolve()));
    for (let count = 0; client.connected; count += 1) {
      const isStored = client.publishAsync(`t/${count}`, Buffer.alloc(50_000), { qos: 1, retain: true });
      await Promise.race([isStored, isClosed]);
    }
    const { code, stderr } = await ended;
    expect(stderr).toMatch(
      /^apus: The disk has failed \(EFBIG: file too large, write\)\. Nothing is acknowledged/m,
    );
    expect(code).toBe(1);
  });

  test.each([0, 8, 100, 500])('at the start, after %i blocks: the same', async (blocks) => {
    const { code, stderr } = await outcomeOf(serveWithin(blocks, temporaryDirectory()));
    expect(stderr).toMatch(/^apus: \S+ cannot be written: EFBIG: file too large, write\.$/m);
    expect(code).toBe(1);
  });
});

test('a damaged data file stops the start with a sentence that says what to do', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'apus.mdb');
  await (await apus.serve(['--data', directory])).stop();
  const file = openSync(path, 'r+');
  // The numbers of the last pages: LMDB maps as many.
  for (const page of [0, 4096]) writeSync(file, Buffer.of(1), 0, 1, page + 149);
  closeSync(file);
  const { code, stderr } = await apus.run(['serve', '--port', '0', '--data', directory]);
  expect(stderr).toMatch(
    /^apus: \S+ is not a data file of Apus, or is damaged: it ends after .* Restore it, or move it away\.$/m,
  );
  expect(code).toBe(1);
});

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

interface Ports {
  readonly node: string;
  readonly gateway: string;
}

/** `apus serve` with both doors and a data directory. */
async function serve(directory: string, ports: Ports) {
  const child = apus.start([
    'serve',
    ...['--port', ports.node, '--gateway-port', ports.gateway],
    ...['--data', directory],
    // A busy machine keeps clients away for so long that more messages wait than a session may hold by default.
    ...['--queue-length-max', '100000'],
  ]);
  const ended = outcomeOf(child);
  const urls = await urlsOf(child);
  const [node, gateway] = [urls.get('MQTT'), urls.get('gateway')];
  if (node === undefined || gateway === undefined) throw new Error((await ended).stderr);
  return {
    urls: { node, gateway },
    ports: { node: new URL(node).port, gateway: new URL(gateway).port },
    stop: async () => {
      child.kill('SIGTERM');
      return await ended;
    },
  };
}

/** What a started process says of where it listens, by `MQTT` and `gateway`. */
async function urlsOf(child: ChildProcess): Promise<ReadonlyMap<string, string>> {
  const urls = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const [, name, url] = /^\s+(MQTT|gateway)\s+(\S+)/.exec(line) ?? [];
    if (name !== undefined && url !== undefined) urls.set(name, url);
    if (line.startsWith('Stop it')) break;
  }
  return urls;
}

type Door = keyof Ports;

/** mqtt.js sends each of them again, one after another, before it emits that it is connected. */
const UNACKNOWLEDGED_MAX = 400;

/** A program with mqtt.js, which reconnects by itself. Its session outlives the connection. */
function program(urls: Readonly<Record<Door, string>>, door: Door, version: 4 | 5, clientId: string) {
  const options: mqtt.IClientOptions = {
    clientId,
    protocolVersion: version,
    clean: false,
    reconnectPeriod: 50,
    ...(version === 5 && { properties: { sessionExpiryInterval: 3_600 } }),
  };
  const client =
    door === 'node'
      ? mqtt.connect(urls.node, options)
      : connectInTextFrames(mqtt, urls.gateway, options, { random: () => 0 });
  onTestFinished(() => void client.end(true));
  return client;
}

describe('a broker that is stopped with SIGTERM and started again, under load', () => {
  test('loses nothing at QoS 1 and 2 at either door: programs with mqtt.js reconnect by themselves', async () => {
    const directory = temporaryDirectory();
    const first = await serve(directory, { node: '0', gateway: '0' });
    const doors = ['node', 'gateway'] as const;
    const subscribers = doors.flatMap((door) =>
      ([4, 5] as const).map((version) => {
        const client = program(first.urls, door, version, `sub-${door}-${version}`);
        const got = { 1: [] as number[], 2: [] as number[] };
        client.on('message', (topic, payload) => got[topic.endsWith('/1') ? 1 : 2].push(Number(payload)));
        return { client, got, name: `${door}, version ${version}` };
      }),
    );
    for (const { client } of subscribers) await client.subscribeAsync('load/#', { qos: 2 });
    const publishers = doors.map((door) => ({ door, client: program(first.urls, door, 5, `pub-${door}`) }));
    let count = 0;
    let acknowledged = 0;
    const publish = (): void => {
      if (2 * count - acknowledged >= UNACKNOWLEDGED_MAX) return;
      count += 1;
      const { client } = publishers[count % publishers.length] ?? {};
      // Each publisher has its own topic at each QoS: its messages there have an order.
      for (const qos of [1, 2] as const)
        client?.publish(`load/${count % publishers.length}/${qos}`, String(count), { qos }, () => {
          acknowledged += 1;
        });
    };
    const timer = setInterval(publish, 10);
    onTestFinished(() => clearInterval(timer));
    await expect.poll(() => acknowledged).toBeGreaterThan(100);

    const stopped = await first.stop();
    expect(stopped.code).toBe(0);
    const isBack = new Set<mqtt.MqttClient>();
    const programs = [...subscribers, ...publishers].map(({ client }) => client);
    for (const client of programs) client.on('connect', () => isBack.add(client));
    const atStop = acknowledged;
    const second = await serve(directory, first.ports);
    await expect.poll(() => isBack.size, { timeout: 60_000 }).toBe(programs.length);
    await expect.poll(() => acknowledged, { timeout: 60_000 }).toBeGreaterThan(atStop + 100);
    clearInterval(timer);
    await expect.poll(() => acknowledged, { timeout: 60_000 }).toBe(2 * count);
    const all = Array.from({ length: count }, (_, index) => index + 1);
    for (const { got, name } of subscribers) {
      await expect.poll(() => new Set(got[1]).size, { timeout: 60_000, message: name }).toBe(count);
      await expect
        .poll(() => got[2].length, { timeout: 60_000, message: name })
        .toBeGreaterThanOrEqual(count);
      expect(
        [...got[2]].sort((a, b) => a - b),
        `${name}: exactly once`,
      ).toEqual(all);
      for (const qos of [1, 2] as const)
        for (const remainder of [0, 1]) {
          const ofOne = [...new Set(got[qos])].filter((number) => number % publishers.length === remainder);
          expect(ofOne, `${name}: in order at QoS ${qos}`).toEqual(ofOne.toSorted((a, b) => a - b));
        }
    }
    expect((await second.stop()).code).toBe(0);
  });
});
