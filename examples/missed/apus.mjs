import { connect } from '@apus/client';
import mqtt from 'mqtt';
import { WebSocket } from 'ws';

const { APUS_URL: url = 'ws://127.0.0.1:8084/mqtt', APUS_TOKEN: token } = process.env;
const TOPIC = 'missed/numbers';

/** A session that is kept for ten minutes after its connection is gone, with the messages that come meanwhile. */
const SESSION = {
  clientId: `missed-${process.pid}`,
  clean: false,
  properties: { sessionExpiryInterval: 600 },
};

/** @param {import('mqtt').IClientOptions} [options] */
function open(options) {
  const transport = { WebSocket, ...(token !== undefined && { token: () => token }) };
  const client = connect(mqtt, url, { protocolVersion: 5, ...options }, transport);
  client.on('error', (error) => {
    console.error(`${url}: ${error.message}`);
    process.exit(1);
  });
  return client;
}

/** @returns {import('./service.ts').Service} */
export function apus() {
  const publisher = open();
  return {
    name: 'Apus',
    publish: (number) => publisher.publishAsync(TOPIC, String(number), { qos: 1 }),
    async subscribe(receive) {
      const client = open(SESSION);
      client.on('message', (_topic, payload) => receive(Number(payload)));
      await client.subscribeAsync(TOPIC, { qos: 1 });
      return { cut: () => client.endAsync(true) };
    },
    end: () => publisher.endAsync(),
  };
}
