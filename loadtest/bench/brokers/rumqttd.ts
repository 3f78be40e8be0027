import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once, run } from '../install.ts';
import type { Certificate, Listener } from '../wires.ts';
import type { BrokerKind } from './broker.ts';

const RUMQTTD_VERSION = '0.20.0';

/** From crates.io; compiled here, which takes several minutes. */
export const rumqttd: BrokerKind = {
  name: 'rumqttd',
  title: 'rumqttd',
  language: 'Rust',
  hasSharedSubscriptions: true,
  async prepare(place) {
    const { folder, stop } = place;
    await once(place, RUMQTTD_VERSION, `rumqttd ${RUMQTTD_VERSION}`, async () => {
      // Without --locked: the versions in its lock file do not compile with newer compilers.
      const args = ['install', `rumqttd@${RUMQTTD_VERSION}`, '--features', 'websocket', '--root', folder];
      await run({ command: 'cargo', args, cwd: folder }, stop);
    });
    return {
      version: RUMQTTD_VERSION,
      launch(listener) {
        const configuration = join(folder, `rumqttd-${listener.port}.toml`);
        writeFileSync(configuration, configurationFor(listener));
        return { command: join(folder, 'bin', 'rumqttd'), args: ['-c', configuration] };
      },
    };
  },
};

/** The settings of its own example except for the listener, including the size of its message log in memory. */
function configurationFor(listener: Listener): string {
  const { port, wire } = listener;
  const server = wire === 'ws' ? 'ws.1' : 'v4.1';
  return `id = 0

[router]
id = 0
max_connections = 20000
max_outgoing_packet_count = 200
max_segment_size = 104857600
max_segment_count = 10
shared_subscriptions_strategy = "roundrobin"

[${server}]
name = "${wire}"
listen = "127.0.0.1:${port}"
next_connection_delay_ms = 0
    [${server}.connections]
    connection_timeout_ms = 60000
    max_payload_size = 20480
    max_inflight_count = 500
    dynamic_filters = true
${listener.wire === 'tls' ? tlsOf(server, listener.certificate) : ''}`;
}

function tlsOf(server: string, { certFile, keyFile }: Certificate): string {
  return `    [${server}.tls]
    certpath = "${certFile}"
    keypath = "${keyFile}"
`;
}
