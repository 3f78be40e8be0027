import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once, run } from '../install.ts';
import type { Certificate, Listener } from '../wires.ts';
import { type BrokerKind, CannotInstall, type Place } from './broker.ts';

/** The path in Debian's package. */
const INSTALLED = '/usr/sbin/mosquitto';

/** The first version with its own WebSockets in place of those of libwebsockets. */
const FAST_SINCE = [2, 1] as const;

/**
 * The program that the command line names; otherwise Debian's package: the installed one, or, without one, unpacked
 * into the folder without privileges.
 */
export const mosquitto: BrokerKind = {
  name: 'mosquitto',
  title: 'Mosquitto',
  language: 'C',
  hasSharedSubscriptions: true,
  async prepare(place) {
    const { folder, program } = place;
    if (program !== undefined && !existsSync(program)) throw new CannotInstall(`there is no ${program}`);
    const found = program ?? (existsSync(INSTALLED) ? INSTALLED : undefined);
    if (found === undefined)
      await once(place, 'debian', 'Mosquitto from Debian packages', () => unpack(place));
    const command = found ?? join(folder, INSTALLED);
    const environment = found === undefined ? { LD_LIBRARY_PATH: librariesOf(folder) } : {};
    const help = [...assignments(environment), command, '-h'];
    // Mosquitto 2.0 shows its help with exit code 3.
    const version = versionOf(await run({ command: 'env', args: help, cwd: folder, fineCodes: [1, 3] }));
    return {
      version,
      ...(isSlow(version) && { remark: SLOW }),
      launch(listener) {
        const configuration = join(folder, `mosquitto-${listener.port}.conf`);
        writeFileSync(configuration, configurationFor(listener));
        return { command, args: ['-c', configuration], environment };
      },
    };
  },
};

/**
 * Its own defaults except for the listener: every client is accepted, nothing is stored, and no write waits for more
 * bytes.
 */
function configurationFor(listener: Listener): string {
  const { port, wire } = listener;
  const lines = [
    // Debian's 2.0.11 exits if it has only WebSocket listeners: no client connects to this one.
    ...(wire === 'ws' ? [`listener ${port - 1} 127.0.0.2`] : []),
    `listener ${port} 127.0.0.1`,
    ...(wire === 'ws' ? ['protocol websockets'] : []),
    ...(wire === 'tls' ? tlsLines(listener.certificate) : []),
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'log_type error',
  ];
  return `${lines.join('\n')}\n`;
}

/** Started by root it would become another user, who may not read the key. */
function tlsLines({ certFile, keyFile }: Certificate): readonly string[] {
  return [`certfile ${certFile}`, `keyfile ${keyFile}`, 'user root'];
}

/** Downloads the package and the dependencies that this system lacks, and unpacks them. */
async function unpack({ folder, stop }: Place): Promise<void> {
  const wanted = ['install', '--print-uris', '-qq', '-y', '--no-install-recommends', 'mosquitto'];
  const uris = await run({ command: 'apt-get', args: wanted, cwd: folder }, stop);
  // One line for each package: its address, its file name, which begins with the package's name, its size, its hash.
  const packages = uris.split('\n').flatMap((line) => line.split(' ')[1]?.split('_')[0] ?? []);
  if (packages.length === 0) throw new CannotInstall('apt-get knows no package mosquitto here');
  await run({ command: 'apt-get', args: ['download', ...packages], cwd: folder }, stop);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
    await run({ command: 'dpkg', args: ['-x', file, folder], cwd: folder }, stop);
}

function librariesOf(folder: string): string {
  const libraries = join(folder, 'usr', 'lib');
  const ofArchitecture = readdirSync(libraries).filter((name) => name.endsWith('-linux-gnu'));
  return [...ofArchitecture.map((name) => join(libraries, name)), libraries].join(':');
}

function assignments(environment: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}

const SLOW =
  'Mosquitto before 2.1 speaks WebSocket through libwebsockets and is several times slower for small exchanges than 2.1: compare with a newer one by `--mosquitto PATH`.';

/** Whether the version is known, and before the one with WebSockets of its own. */
export function isSlow(version: string): boolean {
  const [major = Number.NaN, minor = Number.NaN] = version.split('.').map(Number);
  return major < FAST_SINCE[0] || (major === FAST_SINCE[0] && minor < FAST_SINCE[1]);
}

function versionOf(help: string): string {
  return /mosquitto version (\S+)/.exec(help)?.[1] ?? 'unknown';
}
