import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Built, runInThisProcess } from '@apus/cli/testing';
import mqtt, { type MqttClient } from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mosquittoOrSkip } from '../bridges/mosquitto-or-skip.ts';
import { freePort } from '../support/free-port.ts';
import { end, launch, programOrSkip } from '../support/program.ts';
import { needs, needsAll } from '../support/skips.ts';

const program = mosquittoOrSkip();
const passwords = programOrSkip({
  programs: ['mosquitto_passwd'],
  args: ['--help'],
  status: 1,
  reason: 'needs mosquitto_passwd, which comes with Mosquitto',
});

/** `root` reads and writes everything but the end of `closed/…`, so that tests see what others may do. */
const ACL = `
topic readwrite nameless/#

user root
topic readwrite #
topic read $SYS/#

user ada
topic ada/#
topic deny ada/secret/#
topic read news/+
topic write inbox/bob
topic readwrite with spaces/#
topic read

user bob
topic deny private/bob
topic read ada/+/open

user cy
topic readwrite dollar/$x/+

pattern readwrite private/%u
pattern write from/%u/%c
pattern read all/%c/#
pattern deny shut/#
pattern read shut/open
pattern write ping
pattern read done
`;

const USERS = ['root', 'ada', 'bob', 'cy', 'dan'];
const TOPICS = [
  ...[
    'nameless/a',
    'ada',
    'ada/a',
    'ada/secret',
    'ada/secret/b',
    'ada/x/open',
    'ada/x/y/open',
    'news',
    'news/a',
  ],
  ...['news/a/b', 'inbox/bob', 'with spaces/a', 'private/bob', 'private/ada', 'private/dan', 'from/ada/ada'],
  ...[
    'from/ada/bob',
    'from/dan/dan',
    'all/cy/a',
    'all/cy',
    'all/dan/b',
    'shut/open',
    'shut/a',
    'dollar/$x/a',
  ],
  ...['dollar/$x', 'read', '%u', 'private/%u'],
];
/** The topics that Mosquitto 2.0 allows. */
const ALLOWED = {
  'ada publishes': [
    ...['ada', 'ada/a', 'ada/x/open', 'ada/x/y/open', 'inbox/bob', 'with spaces/a', 'private/ada'],
    ...['from/ada/ada', 'read'],
  ],
  'ada reads': [
    'ada',
    'ada/a',
    'ada/x/open',
    'ada/x/y/open',
    'news/a',
    'with spaces/a',
    'private/ada',
    'read',
  ],
  'bob publishes': [],
  'bob reads': ['ada/x/open'],
  'cy publishes': ['dollar/$x/a'],
  'cy reads': ['all/cy/a', 'all/cy', 'dollar/$x/a'],
  'dan publishes': ['private/dan', 'from/dan/dan'],
  'dan reads': ['private/dan', 'all/dan/b'],
};

const ARRIVAL = { timeout: 30_000, interval: 20 };

const built = new Built();

describe(
  'what `apus import mosquitto` makes',
  needsAll(needs('mosquitto', program), needs('mosquitto', passwords)),
  () => {
    test.each(['sha512', 'sha512-pbkdf2'])(
      'lets the users of a password file (%s) publish and read what Mosquitto lets them',
      async (kind) => {
        const directory = mkdtempSync(join(tmpdir(), 'apus-import-'));
        onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
        writeFileSync(join(directory, 'acl'), ACL);
        writeFileSync(join(directory, 'passwords'), '');
        for (const name of USERS)
          execFileSync(passwords ?? '', ['-H', kind, '-b', join(directory, 'passwords'), name, `${name}’s`]);
        const [there, here] = [await freePort(), await freePort()];
        const child = await launch(program ?? '', ['-c', configuration(directory, there)], there);
        onTestFinished(() => end(child, 'SIGKILL'));
        await serveImported(directory, here);

        const atMosquitto = await whatIsAllowed(there);
        expect(await whatIsAllowed(here)).toEqual(atMosquitto);
        expect(atMosquitto).toEqual(ALLOWED);
        // docs/from-mosquitto.md: a filter that is wider than what the user may read.
        expect(await wideFilter(there)).toEqual(['ada/a']);
        expect(await wideFilter(here)).toBe('refused');
        for (const port of [there, here])
          await expect(connect(port, 'ada', 'wrong')).rejects.toThrow(/Not authorized|Bad User Name/i);
      },
      120_000,
    );
  },
);

/** The same files for both brokers; only the port differs. */
function configuration(directory: string, port: number): string {
  const path = join(directory, `${port}.conf`);
  const lines = [`listener ${port} 127.0.0.1`, 'password_file passwords', 'acl_file acl', 'user root'];
  writeFileSync(path, lines.join('\n').replaceAll(/(?<=_file )/g, `${directory}/`));
  return path;
}

/** `apus serve` with the flags that the import prints. */
async function serveImported(directory: string, port: number): Promise<void> {
  const out = join(directory, 'out');
  const conf = configuration(directory, port);
  const outcome = await runInThisProcess(['import', 'mosquitto', conf, '--out', out]);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  const [, ...flags] = readFileSync(join(out, 'serve.txt'), 'utf8').trim().split(' ').slice(1);
  await built.serve(flags.map((flag) => (flag === 'users.json' ? join(out, flag) : flag)));
}

/** Publishes, and subscribes to, each topic as each user; `root` is at the other end. */
async function whatIsAllowed(port: number): Promise<Readonly<Record<string, readonly string[]>>> {
  const root = await connect(port, 'root', 'root’s');
  const allowed: Record<string, readonly string[]> = {};
  for (const name of USERS.filter((each) => each !== 'root')) {
    const client = await connect(port, name, `${name}’s`);
    allowed[`${name} publishes`] = await arrived({ from: client, to: root, filters: ['#'], last: 'ping' });
    allowed[`${name} reads`] = await arrived({
      from: root,
      to: client,
      filters: [...TOPICS, 'done'],
      last: 'done',
    });
    await client.endAsync(true);
  }
  await root.endAsync(true);
  return allowed;
}

interface Way {
  readonly from: MqttClient;
  readonly to: MqttClient;
  readonly filters: readonly string[];
  /** A topic that arrives in any case, and behind all others. */
  readonly last: string;
}

/** The topics of messages that arrive. A refused SUBSCRIBE or PUBLISH is an answer, too. */
async function arrived({ from, to, filters, last }: Way): Promise<readonly string[]> {
  const seen: string[] = [];
  const see = (topic: string) => void seen.push(topic);
  to.on('message', see);
  for (const filter of filters) await to.subscribeAsync(filter, { qos: 1 }).catch(() => {});
  for (const topic of [...TOPICS, last]) await from.publishAsync(topic, 'x', { qos: 1 }).catch(() => {});
  await expect.poll(() => seen, ARRIVAL).toContain(last);
  to.off('message', see);
  await to.unsubscribeAsync([...filters]).catch(() => {});
  return seen.filter((topic) => topic !== last);
}

/** The topics of which `ada` gets messages with the filter `#`. */
async function wideFilter(port: number): Promise<readonly string[] | 'refused'> {
  const [root, ada] = [await connect(port, 'root', 'root’s'), await connect(port, 'ada', 'ada’s')];
  const seen: string[] = [];
  ada.on('message', (topic) => seen.push(topic));
  const isGranted = await ada.subscribeAsync('#', { qos: 1 }).then(
    () => true,
    () => false,
  );
  if (!isGranted) return 'refused';
  for (const topic of ['private/dan', 'ada/secret/b', 'ada/a', 'done'])
    await root.publishAsync(topic, 'x', { qos: 1 });
  await expect.poll(() => seen, ARRIVAL).toContain('done');
  return seen.filter((topic) => topic !== 'done');
}

/** A client identifier that is the user's name: `%c` holds for it at both. */
async function connect(port: number, name: string, password: string): Promise<MqttClient> {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, {
    ...{ protocolVersion: 5, clientId: name, username: name, password, reconnectPeriod: 0 },
  });
  onTestFinished(() => void client.end(true));
  return client;
}
