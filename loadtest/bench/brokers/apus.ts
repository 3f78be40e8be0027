import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Listener } from '../wires.ts';
import { type BrokerKind, CannotInstall } from './broker.ts';

/** The node door of this repository, as `npm start` builds it. */
export const apus = apusKind('apus', 'Apus', 'packages/cli/dist/apus.js');

/** Another build of Apus, such as the one before a change: the command line names its `apus.js`. */
export const before = apusKind('before', 'Apus before');

/** The other brokers have no quota for deliveries: here it is 100,000 a second. */
const WITHOUT_QUOTA = ['--identity-deliveries-per-minute-max', '0'];

function apusKind(name: string, title: string, built?: string): BrokerKind {
  return {
    name,
    title,
    language: 'TypeScript',
    hasSharedSubscriptions: true,
    async prepare({ root, program: given }) {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      const program = given ?? (built && join(root, built));
      if (program === undefined || !existsSync(program)) throw new CannotInstall(`there is no ${program}`);
      return {
        version: `${version} on Node.js ${process.version}`,
        launch: (listener) => ({
          command: process.execPath,
          args: [
            program,
            'serve',
            ...listenArgs(listener),
            '--no-gateway',
            '--log-level',
            'error',
            ...WITHOUT_QUOTA,
          ],
        }),
      };
    },
  };
}

/** A node always has `--port`; beside TCP and TLS nothing connects there. */
function listenArgs(listener: Listener): readonly string[] {
  const port = String(listener.port);
  if (listener.wire === 'ws') return ['--port', port];
  const listen = ['--port', '0', '--listen', `${listener.wire}://127.0.0.1:${port}`];
  if (listener.wire === 'tcp') return listen;
  const { certFile, keyFile } = listener.certificate;
  return [...listen, '--tls-cert', certFile, '--tls-key', keyFile];
}
