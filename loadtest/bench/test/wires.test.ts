import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mosquittoOrSkip } from '../../../test/bridges/mosquitto-or-skip.ts';
import { needsOpenssl } from '../../../test/support/openssl-or-skip.ts';
import { needs, needsAll, onLinux } from '../../../test/support/skips.ts';
import { localWorker } from '../../src/generator/worker-handles.ts';
import { folderForTest } from '../../test/support.ts';
import { apus } from '../brokers/apus.ts';
import type { BrokerKind } from '../brokers/broker.ts';
import { mosquitto } from '../brokers/mosquitto.ts';
import { CASES, HANDSHAKES_CASE } from '../cases.ts';
import { measureCase } from '../measure-case.ts';
import { Results } from '../results.ts';
import { playRound } from '../rounds.ts';
import { startBroker } from '../running-broker.ts';
import { makeCertificate, type WireName } from '../wires.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const program = mosquittoOrSkip();

async function prepared(kind: BrokerKind, given: string | undefined) {
  const folder = folderForTest();
  const { signal: stop } = new AbortController();
  return await kind.prepare({ folder, root: ROOT, program: given, say: () => {}, stop });
}

const mosquittoPath = program !== undefined && existsSync(program) ? program : undefined;

describe.each(['ws', 'tcp', 'tls'] as const)('Mosquitto over %s', (wire: WireName) => {
  // A case reads the use of its broker from /proc.
  const skip = needsAll(needs('mosquitto', program), needsOpenssl(), onLinux);

  it.each(['fan-in', 'handshakes'])('is started and measured: %s', skip, async (name) => {
    const given = [...CASES, HANDSHAKES_CASE].find((each) => each.name === name);
    if (given === undefined) throw new Error(`there is no ${name}`);
    const certificate = makeCertificate(folderForTest());
    const broker = await startBroker(await prepared(mosquitto, mosquittoPath), wire, certificate);
    onTestFinished(() => broker.stop());
    expect(broker.url).toMatch(
      wire === 'ws' ? /^ws:\/\/127\.0\.0\.1:\d+\/mqtt$/ : new RegExp(`^${wire}://127\\.0\\.0\\.1:\\d+$`),
    );
    const sample = await measureCase(given, {
      url: broker.url,
      certificateAuthority: certificate.pem,
      use: () => broker.use(),
      startWorker: localWorker,
      workers: 1,
      seconds: 0.3,
      scale: 0.02,
      stop: new AbortController().signal,
    });
    expect(sample.problems).toEqual([]);
    expect(sample.received).toBe(sample.expected);
    expect(sample.connected).toBe(name === 'fan-in' ? 11 : 100);
    expect(sample.connectionsPerSecond).toBeGreaterThan(0);
  });
});

describe('Apus', () => {
  const listensWith = async (wire: WireName) => {
    const { launch } = await prepared(apus, fileURLToPath(import.meta.url));
    const certificate = { certFile: 'cert.pem', keyFile: 'key.pem', pem: '' };
    const { args } = launch(wire === 'tls' ? { port: 5, wire, certificate } : { port: 5, wire });
    return args.slice(2, args.indexOf('--no-gateway'));
  };

  it('has one listener that clients use', async () => {
    expect(await listensWith('ws')).toEqual(['--port', '5']);
    const tcp = ['--port', '0', '--listen', 'tcp://127.0.0.1:5'];
    expect(await listensWith('tcp')).toEqual(tcp);
    const files = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
    expect(await listensWith('tls')).toEqual(['--port', '0', '--listen', 'tls://127.0.0.1:5', ...files]);
  });
});

describe('a round', () => {
  it('starts a broker once for each wire, and says which one fails', async () => {
    const said: string[] = [];
    const launched: string[] = [];
    const launch = ({ wire }: { readonly wire: WireName }) => {
      launched.push(wire);
      return { command: process.execPath, args: ['-e', "console.error('no wings'); process.exit(3)"] };
    };
    await playRound(0, {
      contenders: [{ kind: apus, prepared: { version: '1', launch } }],
      cases: [],
      wires: ['ws', 'tcp', 'tls'],
      certificate: undefined,
      turns: 1,
      seconds: 1,
      scale: 1,
      processes: 1,
      openFilesMax: undefined,
      workerProcess: '',
      untilMs: Number.POSITIVE_INFINITY,
      results: new Results(),
      stop: new AbortController().signal,
      say: (line) => said.push(line),
    });
    expect(launched).toEqual(['ws', 'tcp']);
    expect(said).toEqual([
      'Apus over ws could not be started: it ended at once: no wings',
      'Apus over tcp could not be started: it ended at once: no wings',
      'Apus over tls could not be started: it has no certificate',
    ]);
  });
});
