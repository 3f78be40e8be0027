import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { once, run } from '../install.ts';
import { type Certificate, type Listener, openssl } from '../wires.ts';
import type { BrokerKind } from './broker.ts';

const HIVEMQ_VERSION = '2025.5';
const STORE_PASSWORD = 'benchmark';

/** HiveMQ CE as an embedded broker, from Maven Central. */
export const hivemq: BrokerKind = {
  name: 'hivemq',
  title: 'HiveMQ CE',
  language: 'Java',
  hasSharedSubscriptions: true,
  async prepare(place) {
    const { folder, root, stop } = place;
    const classPath = [folder, join(folder, 'lib', '*')].join(delimiter);
    await once(place, HIVEMQ_VERSION, `HiveMQ CE ${HIVEMQ_VERSION}`, async () => {
      for (const file of ['pom.xml', 'Bench.java'])
        copyFileSync(join(root, 'loadtest', 'bench', 'programs', 'hivemq', file), join(folder, file));
      const copy = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
      await run({ command: 'mvn', args: copy, cwd: folder }, stop);
      await run(
        { command: 'javac', args: ['-cp', classPath, '-d', folder, 'Bench.java'], cwd: folder },
        stop,
      );
    });
    return {
      version: `${HIVEMQ_VERSION} embedded`,
      launch(listener) {
        const home = join(folder, `run-${listener.port}`);
        for (const name of ['conf', 'data', 'extensions']) mkdirSync(join(home, name), { recursive: true });
        writeFileSync(join(home, 'conf', 'config.xml'), configurationFor(listener, home));
        return { command: 'java', args: ['-cp', classPath, 'Bench', home] };
      },
    };
  },
};

const ELEMENTS = { ws: 'websocket-listener', tcp: 'tcp-listener', tls: 'tls-tcp-listener' } as const;

function configurationFor(listener: Listener, home: string): string {
  const element = ELEMENTS[listener.wire];
  return `<?xml version="1.0"?>
<hivemq>
  <listeners>
    <${element}>
      <port>${listener.port}</port>
      <bind-address>127.0.0.1</bind-address>
      ${settingsOf(listener, home)}
    </${element}>
  </listeners>
  <persistence><mode>in-memory</mode></persistence>
  <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
</hivemq>
`;
}

function settingsOf(listener: Listener, home: string): string {
  if (listener.wire === 'tls') return tlsSettings(listener.certificate, join(home, 'key.p12'));
  if (listener.wire === 'tcp') return '';
  return '<path>/mqtt</path><subprotocols><subprotocol>mqtt</subprotocol></subprotocols>';
}

/** Java reads keys from a store with a password. */
function tlsSettings({ certFile, keyFile }: Certificate, store: string): string {
  const files = ['-in', certFile, '-inkey', keyFile, '-out', store];
  openssl('pkcs12', '-export', '-name', 'bench', '-passout', `pass:${STORE_PASSWORD}`, ...files);
  const passwords = ['password', 'private-key-password'].map(
    (name) => `<${name}>${STORE_PASSWORD}</${name}>`,
  );
  return `<tls><keystore><path>${store}</path>${passwords.join('')}</keystore></tls>`;
}
