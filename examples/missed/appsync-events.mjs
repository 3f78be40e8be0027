import { once } from 'node:events';
import { WebSocket } from 'ws';

// As the console shows them: https://….appsync-api.REGION.amazonaws.com/event and wss://….appsync-realtime-api.….
const { APPSYNC_HTTP_URL: http = '', APPSYNC_REALTIME_URL: realtime = '', APPSYNC_API_KEY } = process.env;
const CHANNEL = '/default/missed';

/**
 * The protocol of docs.aws.amazon.com/appsync/latest/eventapi/event-api-websocket-protocol.html. It has no session: a
 * subscription ends with its connection, and nothing in it asks for an event of the past.
 *
 * @returns {import('./service.ts').Service}
 */
export function appSyncEvents() {
  const authorization = { host: new URL(http).host, 'x-api-key': APPSYNC_API_KEY ?? '' };
  const header = Buffer.from(JSON.stringify(authorization)).toString('base64url');
  return {
    name: 'AWS AppSync Events',
    async publish(number) {
      const body = JSON.stringify({ channel: CHANNEL, events: [JSON.stringify(number)] });
      const headers = { 'content-type': 'application/json', 'x-api-key': authorization['x-api-key'] };
      const { status } = await fetch(http, { method: 'POST', headers, body });
      if (status !== 200) throw new Error(`${http} answered ${status}`);
    },
    async subscribe(receive) {
      const socket = new WebSocket(realtime, ['aws-appsync-event-ws', `header-${header}`]);
      await once(socket, 'open');
      const subscribed = new Promise((resolve, reject) => {
        socket.on('message', (data) => {
          const { type, event } = JSON.parse(String(data));
          if (type === 'data') for (const text of [event].flat()) receive(JSON.parse(text));
          if (type === 'subscribe_success') resolve(undefined);
          if (String(type).includes('error')) reject(new Error(String(data)));
        });
      });
      socket.send(JSON.stringify({ type: 'connection_init' }));
      socket.send(JSON.stringify({ type: 'subscribe', id: 'numbers', channel: CHANNEL, authorization }));
      await subscribed;
      return {
        async cut() {
          socket.terminate();
        },
      };
    },
    end: async () => {},
  };
}
