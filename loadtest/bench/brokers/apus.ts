import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
        launch: (port) => ({
          command: process.execPath,
          args: [
            program,
            'serve',
            '--port',
            String(port),
            '--no-gateway',
            '--log-level',
            'error',
            ...WITHOUT_QUOTA,
          ],
          path: '/mqtt',
        }),
      };
    },
  };
}
