import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LOOPBACK_ORIGINS } from '@apus/door';
import { madeOnce, PAGE, privateFolder } from './local-files.ts';
import { main } from './main.ts';
import type { RunningWorkerd } from './run-workerd.ts';
import { flagsIn, SettingsError, textsFrom, WORKER_FLAGS, WORKER_HELP } from './settings.ts';
import { startLocal } from './start-local.ts';

const HELP = `npm run cloudflare -- [flags]

Runs the object door on this machine alone, in workerd, the runtime of Cloudflare: no account is needed. Clients need no
token, unless you ask for one.

  --port PORT           Of 127.0.0.1; 0 takes a free one. Default: 8787.
  --data FOLDER         Where the module and the records of the hubs are. Default: .apus-cloudflare
  --tokens              Asks clients for tokens, as a deployment does. Their secret is in the folder.
${WORKER_HELP}
  --help`;

const PORT = 8_787;

await main(run, HELP);

async function run(args: readonly string[], untilStopped: (stop: () => Promise<void>) => Promise<void>) {
  const flags = flagsIn(args, {
    ...WORKER_FLAGS,
    port: { type: 'string' },
    data: { type: 'string' },
    tokens: { type: 'boolean' },
  });
  const folder = privateFolder(resolve(flags.data ?? '.apus-cloudflare'));
  const secretFile = flags.tokens === true ? join(folder, 'token-secret') : undefined;
  if (secretFile !== undefined) madeOnce(secretFile);
  const keyFile = join(folder, 'api-key');
  const texts = textsFrom(flags, secretFile, madeOnce(keyFile), { allowedOrigins: [LOOPBACK_ORIGINS] });
  const page = existsSync(PAGE) ? PAGE : undefined;
  const log = (line: string) => console.error(line);
  const workerd = await startLocal({ folder, port: portIn(flags.port), texts, page, log });
  console.log(welcome(workerd, folder, keyFile, secretFile));
  let isStopping = false;
  const stopped = untilStopped(async () => {
    isStopping = true;
    await workerd.stop();
  });
  const last = await Promise.race([stopped, workerd.ended]);
  if (!isStopping) throw new SettingsError(`workerd has ended: ${last}`);
  await stopped;
}

function portIn(text = String(PORT)): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new SettingsError(`--port is a whole number from 0 to 65535, not "${text}".`);
}

function welcome(
  { port }: RunningWorkerd,
  folder: string,
  keyFile: string,
  secretFile: string | undefined,
): string {
  const base = `127.0.0.1:${port}`;
  const lines = [
    'Apus is running in workerd:',
    `  MQTT  ws://${base}/mqtt`,
    ...(existsSync(PAGE) ? [`  page  http://${base}/`] : []),
    `  API   http://${base}/api/v5 (the key is in ${keyFile})`,
    `  data  ${folder}`,
  ];
  if (secretFile !== undefined)
    lines.push(
      'A client shows a token, in the query as ?token=… or as password. In this folder this makes one that may do everything for an hour:',
      `  npx apus token --secret-file ${secretFile} --sub me --publish '#' --subscribe '#'`,
    );
  return [...lines, 'Stop it with Ctrl+C.'].join('\n');
}
