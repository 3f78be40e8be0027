import { closeSync, existsSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { plainLines } from '@apus/broker';
import type { Imported } from '../import/report.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { printLine } from './print.ts';

/** The files hold hashes of passwords. */
const MODE = 0o600;

const MOSQUITTO: Flags = {
  'password-file': { value: 'FILE', help: 'The password file, if it is not where mosquitto.conf says.' },
  'acl-file': { value: 'FILE', help: 'The ACL file, if it is not where mosquitto.conf says.' },
};

const EMQX: Flags = {
  hash: {
    value: 'KIND',
    help: 'How EMQX hashes passwords: md5, sha, sha256 or sha512, with the salt behind the password (-prefix: before it, as sha256-prefix), or PBKDF2 as pbkdf2-sha256:ITERATIONS.',
    default: 'sha256',
  },
  'no-match': {
    value: 'allow|deny',
    help: "EMQX's authorization.no_match: what users may do that no rule is about. EMQX allows it by default.",
    default: 'deny',
  },
};

const OUTPUT: Flags = {
  out: {
    value: 'DIRECTORY',
    help: 'Writes the files here, and over none that is there. Without it they are printed.',
  },
};

export const importing: Command = {
  name: 'import',
  summary: 'Makes users, rules and flags from the files of Mosquitto or EMQX.',
  usage: 'mosquitto FILE [FLAGS]\n       apus import emqx FILE… [FLAGS]',
  description: [
    '  apus import mosquitto /etc/mosquitto/mosquitto.conf --out apus',
    '  apus import emqx users.csv acl.conf rules.json --out apus',
    '',
    'The rules allow no user more than the other broker did. The command lists what it left out, and why. Clients keep their passwords; no hash of the other broker stands in the users file. docs/from-mosquitto.md and docs/from-emqx.md have the differences.',
  ].join('\n'),
  flags: { 'Of Mosquitto': MOSQUITTO, 'Of EMQX': EMQX, Output: OUTPUT },
  async run(values) {
    const [from, ...paths] = values.positionals;
    const { filesOf, reportOf } = await import('../import/report.ts');
    const imported = await importedFrom(from, paths, values);
    const files = filesOf(imported);
    const directory = values.text('out');
    if (directory === undefined)
      for (const [name, text] of files) console.log(plainLines(`# ${name}\n${text}`));
    else write(directory, files);
    for (const line of reportOf(imported)) printLine(line);
    return 0;
  },
};

async function importedFrom(
  from: string | undefined,
  paths: readonly string[],
  values: Values,
): Promise<Imported> {
  const [path, ...others] = paths;
  if (from === 'mosquitto' && path !== undefined && others.length === 0) {
    values.refuse(EMQX, 'is for `apus import emqx`.');
    const { importMosquitto } = await import('../import/mosquitto.ts');
    return await importMosquitto(path, {
      passwordFile: values.text('password-file'),
      aclFile: values.text('acl-file'),
    });
  }
  if (from !== 'emqx' || path === undefined)
    throw new UsageError('It is `apus import mosquitto FILE` or `apus import emqx FILE…`.');
  values.refuse(MOSQUITTO, 'is for `apus import mosquitto`.');
  const [{ importEmqx }, { emqxHashOf }] = await Promise.all([
    import('../import/emqx.ts'),
    import('../import/emqx-users.ts'),
  ]);
  const hash = emqxHashOf(values.text('hash') ?? 'sha256');
  if (hash === undefined)
    throw new UsageError(
      `--hash is as sha256, sha256-prefix or pbkdf2-sha256:4096, not "${values.text('hash')}".`,
    );
  const allowsUnmatched = values.oneOf('no-match', ['allow', 'deny']) === 'allow';
  return await importEmqx(paths, { hash, allowsUnmatched });
}

/** All or nothing: the files are of one import. */
function write(directory: string, files: ReadonlyMap<string, string>): void {
  const existing = [...files.keys()].find((name) => existsSync(join(directory, name)));
  if (existing !== undefined)
    throw new CommandError(`${join(directory, existing)} is there: the command writes over no file.`);
  try {
    mkdirSync(directory, { recursive: true });
    for (const [name, text] of files) {
      const file = openSync(join(directory, name), 'wx', MODE);
      writeSync(file, text);
      closeSync(file);
      console.log(`Wrote ${join(directory, name)}.`);
    }
  } catch (error) {
    throw new CommandError(`The files cannot be written: ${(error as Error).message}.`);
  }
}
