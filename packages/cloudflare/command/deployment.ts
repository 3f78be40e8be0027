import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildWorker } from './build-worker.ts';
import { COMPATIBILITY_DATE, ENTRY, madeOnce, PAGE, privateFolder } from './local-files.ts';
import { flagsIn, SettingsError, textsFrom, WORKER_FLAGS, WORKER_HELP } from './settings.ts';
import { requireNode, wrangler } from './wrangler.ts';

const NAME = 'apus';

/** Secrets leave with the version that asks for them: no version of the Worker runs without. */
const SECRETS = 'secrets.json';

/** Cloudflare's limit of one variable or secret. */
const TEXT_BYTES_MAX = 5 * 1024;

const COMMON_HELP = `  --name NAME           Of the Worker. Default: ${NAME}.
  --data FOLDER         Where its secrets stay. Default: .apus-cloudflare-NAME`;

export const DEPLOY_HELP = `npm run deploy:cloudflare -- [flags]

Builds the object door, and deploys it to your account of Cloudflare with wrangler, which npm fetches. Log in before with
\`npx wrangler login\`, or set CLOUDFLARE_API_TOKEN. Clients need a token. Nobody has run this in an account yet.

${COMMON_HELP}
${WORKER_HELP}
  --page                Serves the web client as well.
  --dry-run             Builds, and asks wrangler to check it; deploys nothing.
  --help`;

export const DESTROY_HELP = `npm run destroy:cloudflare -- --yes [flags]

Deletes the hubs of all tenants with everything that they keep, and then the Worker.

  --yes                 Required.
${COMMON_HELP}
  --help`;

const COMMON_FLAGS = {
  name: { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** @throws {SettingsError} */
export async function deploy(args: readonly string[], nodeVersion = process.versions.node): Promise<void> {
  const flags = flagsIn(args, {
    ...COMMON_FLAGS,
    ...WORKER_FLAGS,
    page: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
  });
  requireNode(nodeVersion);
  const { name, folder } = placeOf(flags);
  const [keyFile, tokenFile] = [join(folder, 'api-key'), join(folder, 'token-secret')];
  const ownTokens = flags.identity === undefined;
  if (ownTokens) madeOnce(tokenFile);
  const texts = textsFrom(flags, ownTokens ? tokenFile : undefined, madeOnce(keyFile), {});
  const { CONFIGURATION, ...secrets } = texts;
  for (const [what, text = ''] of Object.entries(texts))
    if (Buffer.byteLength(text) > TEXT_BYTES_MAX)
      throw new SettingsError(`${what} has more than ${TEXT_BYTES_MAX} bytes, which is Cloudflare's limit.`);
  if (flags.page === true && !existsSync(PAGE))
    throw new SettingsError('The page has not been built: npm run build');
  await buildWorker(ENTRY, join(folder, 'worker.js'));
  const page = flags.page === true ? { assets: ASSETS } : {};
  writeConfiguration(folder, { ...worker(name), ...page, vars: { CONFIGURATION, CLOSED: 'yes' } });
  if (flags['dry-run'] === true) {
    await wrangler(folder, 'deploy', '--dry-run', '--outdir', 'dry-run');
    return;
  }
  writeFileSync(join(folder, SECRETS), JSON.stringify(secrets), { mode: 0o600 });
  const said = await wrangler(folder, 'deploy', '--secrets-file', SECRETS);
  const [url] = /https:\/\/[\w.-]+\.workers\.dev/.exec(said) ?? [];
  console.log(summary(url, keyFile, ownTokens ? tokenFile : undefined));
}

/** @throws {SettingsError} */
export async function destroy(args: readonly string[], nodeVersion = process.versions.node): Promise<void> {
  const flags = flagsIn(args, { ...COMMON_FLAGS, yes: { type: 'boolean' } });
  if (flags.yes !== true)
    throw new SettingsError('This deletes everything that the hubs keep. Say that you want it: --yes');
  requireNode(nodeVersion);
  const { name, folder } = placeOf(flags);
  writeFileSync(join(folder, 'worker.js'), GONE);
  const { migrations, durable_objects: _, ...empty } = worker(name);
  const deletion = { tag: 'v2', deleted_classes: ['Hub'] };
  writeConfiguration(folder, { ...empty, migrations: [...migrations, deletion] });
  await wrangler(folder, 'deploy');
  await wrangler(folder, 'delete', name, '--force');
  console.log(
    `The Worker ${name} and its hubs are gone, with all that they kept. The secrets stay in ${folder}.`,
  );
}

const GONE = `export default { fetch: () => new Response('This broker is gone.\\n', { status: 410 }) };\n`;

const ASSETS = {
  directory: PAGE,
  binding: 'ASSETS',
  run_worker_first: true,
  html_handling: 'none',
  not_found_handling: 'none',
} as const;

function worker(name: string) {
  return {
    name,
    main: 'worker.js',
    no_bundle: true,
    compatibility_date: COMPATIBILITY_DATE,
    compatibility_flags: ['nodejs_compat'],
    durable_objects: { bindings: [{ name: 'HUB', class_name: 'Hub' }] },
    migrations: [{ tag: 'v1', new_sqlite_classes: ['Hub'] }],
    observability: { enabled: true },
    workers_dev: true,
  };
}

function placeOf({ name = NAME, data }: { name?: string | undefined; data?: string | undefined }) {
  if (!/^[a-z0-9][a-z0-9-]{0,53}$/.test(name))
    throw new SettingsError(`--name has small letters, digits and "-", 54 at most, not "${name}".`);
  return { name, folder: privateFolder(resolve(data ?? `.apus-cloudflare-${name}`)) };
}

function writeConfiguration(folder: string, configuration: object): void {
  writeFileSync(join(folder, 'wrangler.json'), JSON.stringify(configuration, undefined, 2));
}

function summary(url: string | undefined, keyFile: string, tokenFile: string | undefined): string {
  const where = url ?? 'https://NAME.ACCOUNT.workers.dev (wrangler names it above)';
  const lines = [
    '',
    'The broker is up:',
    `  MQTT  ${where.replace('https:', 'wss:')}/mqtt`,
    `  API   ${where}/api/v5 (the key is in ${keyFile})`,
  ];
  if (tokenFile !== undefined)
    lines.push(
      'A client needs a token, in the query as ?token=…; this makes one that may do everything for an hour:',
      `  npx apus token --secret-file ${tokenFile} --sub me --publish '#' --subscribe '#'`,
      'Cloudflare does not give secrets back: keep this folder.',
    );
  return [...lines, '`npm run destroy:cloudflare` takes it away.'].join('\n');
}
