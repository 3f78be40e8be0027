import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { once, run } from '../install.ts';
import type { BrokerKind } from './broker.ts';

const HIVEMQ_VERSION = '2025.5';

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
      launch(port) {
        const home = join(folder, `run-${port}`);
        for (const name of ['conf', 'data', 'extensions']) mkdirSync(join(home, name), { recursive: true });
        writeFileSync(join(home, 'conf', 'config.xml'), configurationFor(port));
        return { command: 'java', args: ['-cp', classPath, 'Bench', home], path: '/mqtt' };
      },
    };
  },
};

function configurationFor(port: number): string {
  return `<?xml version="1.0"?>
<hivemq>
  <listeners>
    <websocket-listener>
      <port>${port}</port>
      <bind-address>127.0.0.1</bind-address>
      <path>/mqtt</path>
      <subprotocols><subprotocol>mqtt</subprotocol></subprotocols>
    </websocket-listener>
  </listeners>
  <persistence><mode>in-memory</mode></persistence>
  <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
</hivemq>
`;
}
