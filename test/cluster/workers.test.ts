import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Built, type Serving } from '@apus/cli/testing';
import type * as mqtt from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { familyOf, running } from '../support/processes.ts';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
/** The SHA-256 of "secret-of-eve". */
const HASH = 'scrypt:16384:8:1:hCtrsHrpjIiwFJzybxpaoA:RPp08lY3scheRbMGq_uGULJTt4o-nqIHWWlyGtT9AbI';
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 50 };

const familyOfServing = ({ process }: Serving) => familyOf(process.pid ?? 0);
const workersOf = (serving: Serving) =>
  familyOfServing(serving).filter(
    ({ parent, args }) => parent === serving.process.pid && args.includes('apus.js'),
  );
const engineOf = (serving: Serving) =>
  familyOfServing(serving).find(({ args }) => /(redis|valkey)-server unixsocket/.test(args));

/** The time of a log entry, in milliseconds. */
function timeOf(log: string, event: string): number {
  const line = log.split('\n').find((each) => each.includes(`"event":"${event}"`)) ?? '{}';
  return Date.parse((JSON.parse(line) as { readonly time: string }).time);
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The reason code of the DISCONNECT that a client receives. */
function toldOf({ client }: ClusterClient): Promise<number | undefined> {
  return new Promise((resolve) => client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)));
}

describe('apus serve --workers', needs('engine', program), () => {
  const built = new Built();
  const serve = async (...args: string[]) => await built.serve(['--workers', '3', ...args]);
  const roaming = (serving: Serving, options: mqtt.IClientOptions = {}) =>
    ClusterClient.connect(serving.url, {
      ...KEPT,
      clientId: unique('c'),
      reconnectPeriod: 200,
      connectTimeout: 20_000,
      ...options,
    });

  it('kill -9 of a worker under load: every acknowledged message arrives, and another worker starts', async () => {
    const serving = await serve();
    const topic = unique('t');
    const all = await Promise.all([0, 1, 2, 3, 4, 5].map(() => roaming(serving)));
    const [readers, writers] = [all.slice(0, 3), all.slice(3)];
    for (const { client } of readers) await client.subscribeAsync(`${topic}/+`, { qos: 1 });
    const count = 300;
    let sent = 0;
    const publishing = Promise.all(
      writers.map(async (writer, index) => {
        for (let number = 0; number < count; number += 1) {
          await writer.client.publishAsync(`${topic}/${index}`, String(number), { qos: 1 });
          sent += 1;
        }
      }),
    );
    await expect.poll(() => sent, ARRIVAL).toBeGreaterThan(count / 3);
    const before = workersOf(serving);
    expect(before).toHaveLength(3);
    process.kill(before[0]?.pid ?? 0, 'SIGKILL');
    await publishing;
    const numbers = Array.from({ length: count }, (_, number) => String(number));
    for (const reader of readers)
      for (const index of [0, 1, 2]) {
        const of = () =>
          new Set(
            reader.received.filter((each) => each.topic === `${topic}/${index}`).map(({ text }) => text),
          );
        await expect.poll(() => of().size, ARRIVAL).toBe(count);
        expect([...of()]).toEqual(numbers);
      }
    await expect.poll(() => workersOf(serving).length, ARRIVAL).toBe(3);
    const { code, stderr } = await serving.stop();
    expect(code).toBe(0);
    // The supervisor has told the others. They would have waited at least four seconds for the lease to end.
    expect(timeOf(stderr, 'process-taken-over') - timeOf(stderr, 'worker-ended')).toBeLessThan(4_000);
  });

  it('kill -9 of the command leaves no process behind, and clients receive DISCONNECT', async () => {
    const serving = await serve();
    const told = toldOf(await ClusterClient.connect(serving.url));
    const family = familyOfServing(serving);
    // The command, three workers, the engine, and the process that watches it.
    expect(family).toHaveLength(6);
    await serving.stop('SIGKILL');
    expect(await told).toBe(0x8b);
    await expect.poll(() => running(family), ARRIVAL).toEqual([]);
  });

  it('kill -9 of the command and of all workers leaves no engine behind', async () => {
    const serving = await serve();
    const family = familyOfServing(serving);
    const workers = workersOf(serving);
    serving.process.kill('SIGKILL');
    for (const { pid } of workers) process.kill(pid, 'SIGKILL');
    await expect.poll(() => running(family), ARRIVAL).toEqual([]);
  });

  it('the engine is killed: everything ends and logs a reason, and clients receive DISCONNECT', async () => {
    const serving = await serve();
    const told = toldOf(await ClusterClient.connect(serving.url));
    const family = familyOfServing(serving);
    process.kill(engineOf(serving)?.pid ?? 0, 'SIGKILL');
    expect(await told).toBe(0x8b);
    const { code, stderr } = await serving.stop('SIGCONT');
    expect(code).toBe(1);
    expect(stderr).toMatch(/apus: The engine \((redis|valkey)-server\) has ended by SIGKILL\.\n$/);
    await expect.poll(() => running(family), ARRIVAL).toEqual([]);
  });

  it('SIGTERM: all clients receive DISCONNECT, and everything ends in order, with exit status 0', async () => {
    const serving = await serve();
    const clients = await Promise.all([0, 1, 2, 3].map(() => ClusterClient.connect(serving.url)));
    const told = clients.map(toldOf);
    const family = familyOfServing(serving);
    const { code, stderr } = await serving.stop();
    expect(await Promise.all(told)).toEqual([0x8b, 0x8b, 0x8b, 0x8b]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Stopping …\n' });
    await expect.poll(() => running(family), ARRIVAL).toEqual([]);
  });

  it('SIGTERM of one worker: its clients receive DISCONNECT, and another worker starts', async () => {
    const serving = await serve();
    const clients = await Promise.all([0, 1, 2].map(() => roaming(serving)));
    const told = Promise.race(clients.map(toldOf));
    const [worker] = workersOf(serving);
    process.kill(worker?.pid ?? 0, 'SIGTERM');
    expect(await told).toBe(0x8b);
    await expect.poll(() => running(worker === undefined ? [] : [worker]), ARRIVAL).toEqual([]);
    await expect.poll(() => workersOf(serving).length, ARRIVAL).toBe(3);
  });

  it('SIGHUP is passed on to the workers, and ends nothing', async () => {
    const users = join(temporaryDirectory(), 'users.json');
    const [ada, eve] = ['ada', 'eve'].map((name) => ({
      name,
      password: HASH,
      publish: ['#'],
      subscribe: ['#'],
    }));
    writeFileSync(users, JSON.stringify({ users: [ada] }));
    const serving = await serve('--users', users);
    const before = workersOf(serving).map(({ pid }) => pid);
    writeFileSync(users, JSON.stringify({ users: [ada, eve] }));
    serving.process.kill('SIGHUP');
    // Three clients in a row connect to three workers.
    for (let index = 0; index < 3; index += 1)
      await expect
        .poll(() =>
          ClusterClient.connect(serving.url, { username: 'eve', password: 'secret-of-eve' }).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
    expect(workersOf(serving).map(({ pid }) => pid)).toEqual(before);
  });

  it('workers that end again and again end the command, which logs a reason', async () => {
    const serving = await serve();
    let hasEnded = false;
    const ended = serving.stop('SIGCONT').then((outcome) => {
      hasEnded = true;
      return outcome;
    });
    const killed = new Set<number>();
    await expect
      .poll(() => {
        for (const { pid } of workersOf(serving)) {
          if (killed.has(pid)) continue;
          killed.add(pid);
          process.kill(pid, 'SIGKILL');
        }
        return hasEnded;
      }, ARRIVAL)
      .toBe(true);
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /apus: Workers have ended 10 times within 60 seconds, the last one by SIGKILL\.\n$/,
    );
  });

  it('no list of processes shows the password of the engine, which listens at no port', async () => {
    const serving = await serve();
    for (const { args } of familyOfServing(serving)) expect(args).not.toMatch(/password|requirepass/);
    expect(engineOf(serving)?.args).toMatch(/-server unixsocket:\S+$/);
  });

  it('no engine on the PATH: an error says how to get one', async () => {
    const path = temporaryDirectory();
    symlinkSync(process.execPath, join(path, 'node'));
    const { code, stdout, stderr } = await built.run(['serve', '--workers', '2', '--port', '0'], '', {
      PATH: path,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^apus: --workers needs Valkey or Redis.*apt-get install redis-server.*docker run.*\n$/,
    );
  });

  it('a port that is in use: an error says so, and no engine is started', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const { code, stdout, stderr } = await built.run(['serve', '--workers', '2', '--port', String(port)]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `apus: Port ${port} at 127.0.0.1 is in use: stop the other program, or choose another port with --port.\n`,
    );
  });

  it.each([
    [['--gateway-port', '0'], 1, /^apus: Processes that share an engine.*--gateway-port\)\.\n$/],
    [['--bridges', 'none.json'], 1, /^apus: .*none\.json.*\n$/],
    [
      ['--receive-maximum', '0'],
      2,
      /^apus: --receive-maximum takes a whole number from 1 to 65535, not "0"\..*\n$/,
    ],
    [['--workers', '65'], 2, /^apus: --workers takes a whole number from 2 to 64, not "65"\..*\n$/],
    [['--cluster', 'redis://127.0.0.1:1', '--data', '/tmp'], 1, /^apus: Processes that share.*--data\).*\n$/],
  ])('a refusal of the processes is reported once: %j', async (args, status, sentence) => {
    const workers = args.includes('--workers') ? [] : ['--workers', '2'];
    const { code, stderr } = await built.run(['serve', ...workers, '--port', '0', ...args]);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(status);
  });

  it('the page, /healthz and the API answer at the shared port, whichever worker a request comes to', async () => {
    const serving = await serve();
    for (let request = 0; request < 6; request += 1)
      for (const path of ['', 'healthz', 'api/v5/stats']) {
        const { status } = await fetch(serving.pageUrl + path, { headers: { Connection: 'close' } });
        expect(status).toBe(200);
      }
  });

  it('uses the engine of --cluster, and leaves it running at its end', async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const serving = await serve('--cluster', engine.url);
    const other = await built.serve(['--cluster', engine.url]);
    const topic = unique('t');
    const subscriber = await ClusterClient.connect(other.url);
    await subscriber.client.subscribeAsync(topic, { qos: 1 });
    const publisher = await ClusterClient.connect(serving.url);
    await publisher.client.publishAsync(topic, 'x', { qos: 1 });
    expect(await subscriber.got(1)).toEqual(['x']);
    expect((await serving.stop()).code).toBe(0);
    await subscriber.client.publishAsync(topic, 'y', { qos: 1 });
    expect(await subscriber.got(2)).toEqual(['x', 'y']);
  });

  describe('with --data', () => {
    it.each(['SIGTERM', 'SIGKILL'] as const)('keeps everything over a restart by %s', async (signal) => {
      const directory = temporaryDirectory();
      const first = await serve('--data', directory);
      const [topic, clientId] = [unique('t'), unique('c')];
      const before = await ClusterClient.connect(first.url, { clientId, ...KEPT });
      await before.client.subscribeAsync(topic, { qos: 1 });
      await before.client.endAsync();
      const publisher = await ClusterClient.connect(first.url);
      await publisher.client.publishAsync(topic, 'kept', { qos: 1 });
      await publisher.client.publishAsync(`${topic}/retained`, 'kept too', { qos: 1, retain: true });
      await first.stop(signal);
      const second = await serve('--data', directory);
      const startedAtMs = performance.now();
      const after = await roaming(second, { clientId });
      // No other command uses this engine: the first worker does not wait for the leases of former workers to end.
      expect(performance.now() - startedAtMs).toBeLessThan(4_000);
      expect(await after.got(1)).toEqual(['kept']);
      await after.client.subscribeAsync(`${topic}/retained`);
      expect(await after.got(2)).toEqual(['kept', 'kept too']);
    });

    it('a file that the engine cannot read: an error quotes the engine, and nothing is changed', async () => {
      const directory = temporaryDirectory();
      const manifest = join(directory, 'engine', 'appendonlydir', 'appendonly.aof.manifest');
      mkdirSync(dirname(manifest), { recursive: true });
      writeFileSync(manifest, 'not a manifest\n');
      const { code, stdout, stderr } = await built.run([
        ...['serve', '--workers', '2', '--port', '0', '--data', directory],
      ]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^apus: The engine \((redis|valkey)-server\) has ended with status 1\. It said last: .*manifest.*\n$/i,
      );
      expect(stderr).not.toContain('WARNING');
      expect(readFileSync(manifest, 'utf8')).toBe('not a manifest\n');
    });

    it('keeps a second command out of the directory, and the broker without workers, too', async () => {
      const [directory, ofOne] = [temporaryDirectory(), temporaryDirectory()];
      const serving = await serve('--data', directory);
      const run = (...args: string[]) => built.run(['serve', '--port', '0', '--no-gateway', ...args]);
      const second = await run('--workers', '2', '--data', directory);
      expect(second).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is in use by another process'),
      });
      await serving.stop();
      const alone = await run('--data', directory);
      expect(alone).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the data of several processes'),
      });
      const one = await built.serve(['--data', ofOne]);
      await one.stop();
      const several = await run('--workers', '2', '--data', ofOne);
      expect(several).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('a broker of one process'),
      });
    });
  });
});
