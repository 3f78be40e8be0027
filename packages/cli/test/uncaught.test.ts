import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { scrape } from '../../node/test/support/scrape.ts';
import { Built, type Serving } from './support/built.ts';

const apus = new Built();

/** Faults in the process: on a signal, and in the reading of a chunk that names one. */
const FAULTS = `--import data:text/javascript,${encodeURIComponent(`
  process.on('SIGUSR2', () => {
    Promise.reject(new Error('a rejection'));
    throw new Error('an exception');
  });
  const { indexOf } = Buffer.prototype;
  Buffer.prototype.indexOf = function (...args) {
    if (indexOf.call(this, 'FAULT') >= 0) throw new Error('a fault of one connection');
    return indexOf.apply(this, args);
  };
`)}`;

async function served(): Promise<Serving & { client: RawClient }> {
  const node = await apus.serve([], { NODE_OPTIONS: FAULTS });
  const { client } = await RawClient.connect(node.url, { clientId: 'before' });
  return { ...node, client };
}

async function answers({ url, client }: { url: string; client: RawClient }): Promise<void> {
  client.send({ cmd: 'pingreq' });
  await client.expect('pingresp');
  expect((await RawClient.connect(url, { clientId: 'after' })).connack.reasonCode).toBe(0);
}

test('an exception and a rejection that nothing catches are logged and counted, and the broker goes on', async () => {
  const node = await served();
  node.process.kill('SIGUSR2');
  await expect.poll(async () => (await scrape(node.pageUrl)).values.get('apus_errors_total')).toBe(2);
  await answers(node);
  const { code, stderr } = await node.stop();
  expect(code).toBe(0);
  const errors = stderr
    .split('\n')
    .flatMap((line) => (line.includes('"uncaught"') ? [JSON.parse(line)] : []));
  expect(errors).toMatchObject([
    { level: 'error', error: expect.stringContaining('Error: an exception\n') },
    { level: 'error', error: expect.stringContaining('Error: a rejection\n') },
  ]);
});

test('[SEC-FAULT-1] an exception in the code of a connection ends this connection alone', async () => {
  const node = await served();
  const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write('FAULT');
  await once(socket, 'close');
  await answers(node);
  expect((await node.stop()).stderr).toContain('a fault of one connection');
});

test('a reader of the log that goes away does not end the broker, and is no error', async () => {
  const child = apus.start(['serve', '--port', '0', '--no-gateway'], { NODE_OPTIONS: FAULTS });
  child.stderr?.destroy();
  const [start] = (await once(child.stdout as Readable, 'data')) as [Buffer];
  const [, url = ''] = /page\s+(\S+)/.exec(start.toString()) ?? [];
  const errors = async () => (await scrape(url)).values.get('apus_errors_total');
  for (const count of [2, 4]) {
    child.kill('SIGUSR2');
    await expect.poll(errors).toBe(count);
  }
});
