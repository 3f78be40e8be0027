import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, launch, programOrSkip } from '../support/program.ts';

export interface Proxy {
  readonly name: 'nginx' | 'haproxy' | 'caddy';
  readonly file: string;
  readonly programs: readonly string[];
  /** Arguments with which it prints its version. */
  readonly version: readonly string[];
  /** It carries MQTT over TCP. */
  readonly hasTcp: boolean;
  readonly hasIdleTimeout: boolean;
}

export const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    programs: ['nginx', '/usr/sbin/nginx'],
    version: ['-v'],
    hasTcp: true,
    hasIdleTimeout: true,
  },
  {
    name: 'haproxy',
    file: 'haproxy.cfg',
    programs: ['haproxy', '/usr/sbin/haproxy'],
    version: ['-v'],
    hasTcp: true,
    hasIdleTimeout: true,
  },
  {
    name: 'caddy',
    file: 'Caddyfile',
    programs: ['caddy'],
    version: ['version'],
    hasTcp: false,
    hasIdleTimeout: false,
  },
];

export function proxyOrSkip({ name, programs, version }: Proxy): string | undefined {
  return programOrSkip({ programs, args: version, status: 0, reason: `needs ${name}` });
}

interface Place {
  /** With `server.pem` and `server.key`. */
  readonly directory: string;
  readonly ports: Readonly<Record<'web' | 'mqtt' | 'node' | 'tcp', number>>;
}

/** Idle time-outs of an hour, for a test. */
const IDLE = '8s';

/**
 * Starts a proxy with its file of infra/proxies, in which addresses, certificates and time-outs are those of the test.
 * @returns a function that ends it
 */
export async function startProxy(
  { name, file }: Proxy,
  program: string,
  { directory, ports }: Place,
): Promise<() => Promise<void>> {
  const text = readFileSync(fileURLToPath(new URL(`../../infra/proxies/${file}`, import.meta.url)), 'utf8');
  const path = join(directory, file);
  const [pem, key, both] = ['server.pem', 'server.key', 'both.pem'].map((each) => join(directory, each)) as [
    string,
    string,
    string,
  ];
  writeFileSync(both, readFileSync(pem, 'utf8') + readFileSync(key, 'utf8'));
  const placed = text
    .replaceAll('127.0.0.1:8083', `127.0.0.1:${ports.node}`)
    .replaceAll('127.0.0.1:1883', `127.0.0.1:${ports.tcp}`)
    .replaceAll('/etc/haproxy/mqtt.example.com.pem', both)
    .replaceAll('/etc/ssl/certs/mqtt.example.com.pem', pem)
    .replaceAll('/etc/ssl/private/mqtt.example.com.key', key)
    .replaceAll(/\b1h\b/g, IDLE);
  writeFileSync(path, own[name](placed, ports, directory, program));
  const child = await launch(...commandOf(name, program, path, directory), ports.web);
  // nginx has processes of its own, which SIGKILL of the first would leave.
  return () => end(child, 'SIGTERM');
}

/** Each proxy's own: where it listens, and the files that it would write elsewhere. */
const own: Readonly<
  Record<Proxy['name'], (text: string, ports: Place['ports'], directory: string, program: string) => string>
> = {
  nginx(text, ports, directory, program) {
    const quiet = [
      'access_log off;',
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(directory, kind)};`,
      ),
    ];
    const placed = text
      .replace('listen 443', `listen 127.0.0.1:${ports.web}`)
      .replace('listen 8883', `listen 127.0.0.1:${ports.mqtt}`)
      .replace('http {', `http {\n${quiet.join('\n')}`);
    // Where the module is not one that is loaded, nginx has it built in.
    const isLoaded = optionsOf(program).includes('--with-stream=dynamic');
    return isLoaded ? placed : placed.replace(/^load_module.*$/m, '');
  },
  haproxy: (text, ports) =>
    text
      .replace('bind :443', `bind 127.0.0.1:${ports.web}`)
      .replace('bind :8883', `bind 127.0.0.1:${ports.mqtt}`),
  caddy: (text, ports) =>
    `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text.replace('mqtt.example.com {', `localhost:${ports.web} {\n\tbind 127.0.0.1`)}`,
};

function optionsOf(program: string): string {
  return execFileSync('sh', ['-c', '"$0" -V 2>&1', program], { encoding: 'utf8' });
}

function commandOf(
  name: Proxy['name'],
  program: string,
  path: string,
  directory: string,
): readonly [string, readonly string[]] {
  if (name === 'haproxy') return [program, ['-db', '-f', path]];
  if (name === 'caddy') {
    const homes = ['HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME'].map((each) => `${each}=${directory}`);
    return ['env', [...homes, program, 'run', '--config', path, '--adapter', 'caddyfile']];
  }
  // Started as root, nginx has workers of another user.
  chmodSync(directory, 0o755);
  return [program, ['-c', path, '-e', 'stderr', '-g', `daemon off; pid ${join(directory, 'nginx.pid')};`]];
}
