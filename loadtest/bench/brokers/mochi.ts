import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { once, run } from '../install.ts';
import { wireArgs } from '../wires.ts';
import type { BrokerKind } from './broker.ts';

const MOCHI_VERSION = '2.7.9';
/** Of our program: another one is built anew. */
const PROGRAM = 2;
const FILES = ['go.mod', 'go.sum', 'main.go'];

/** From the Go module proxy: a library, here in a small program. */
export const mochi: BrokerKind = {
  name: 'mochi',
  title: 'mochi-mqtt',
  language: 'Go',
  hasSharedSubscriptions: true,
  async prepare(place) {
    const { folder, root, stop } = place;
    await once(place, `${MOCHI_VERSION}-${PROGRAM}`, `mochi-mqtt ${MOCHI_VERSION}`, async () => {
      for (const file of FILES)
        copyFileSync(join(root, 'loadtest', 'bench', 'programs', 'mochi', file), join(folder, file));
      await run({ command: 'go', args: ['build', '-o', 'mochi', '.'], cwd: folder }, stop);
    });
    return {
      version: MOCHI_VERSION,
      launch: (listener) => ({
        command: join(folder, 'mochi'),
        args: [`127.0.0.1:${listener.port}`, ...wireArgs(listener)],
      }),
    };
  },
};
