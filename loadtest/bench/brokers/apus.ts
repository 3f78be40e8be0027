import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrokerKind } from './broker.ts';

/** The node door of this repository, as `npm start` builds it. */
export const apus: BrokerKind = {
  name: 'apus',
  title: 'Apus',
  language: 'TypeScript',
  hasSharedSubscriptions: true,
  async prepare({ root }) {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const program = join(root, 'packages', 'cli', 'dist', 'apus.js');
    return {
      version: `${version} on Node.js ${process.version}`,
      launch: (port) => ({
        command: process.execPath,
        args: [program, 'serve', '--port', String(port), '--no-gateway', '--log-level', 'error'],
        path: '/mqtt',
      }),
    };
  },
};
