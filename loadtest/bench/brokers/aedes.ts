import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once, run } from '../install.ts';
import { wireArgs } from '../wires.ts';
import type { BrokerKind } from './broker.ts';

const AEDES_VERSION = '1.2.0';
const WS_VERSION = '8.23.0';

/** From npm, in the set-up of its own documentation: a server of Node.js, or `ws` and a stream for each socket. */
export const aedes: BrokerKind = {
  name: 'aedes',
  title: 'aedes',
  language: 'JavaScript',
  hasSharedSubscriptions: false,
  async prepare(place) {
    const { folder, root, stop } = place;
    await once(place, AEDES_VERSION, `aedes ${AEDES_VERSION}`, async () => {
      writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true }, null, 2)}\n`);
      const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
      const packages = [`aedes@${AEDES_VERSION}`, `ws@${WS_VERSION}`];
      await run({ command: 'npm', args: ['install', ...flags, ...packages], cwd: folder }, stop);
    });
    // Beside its packages, where Node.js finds them.
    const program = join(folder, 'aedes.mjs');
    copyFileSync(join(root, 'loadtest', 'bench', 'programs', 'aedes.mjs'), program);
    return {
      version: `${AEDES_VERSION} on Node.js ${process.version}`,
      launch: (listener) => ({
        command: process.execPath,
        args: [program, String(listener.port), ...wireArgs(listener)],
      }),
    };
  },
};
