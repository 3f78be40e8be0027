/// <reference lib="dom" />
import { connect } from '@apus/client';
import { createFallback } from '@apus/client/fallback';
import mqtt from 'mqtt';

/**
 * A developer's browser app: stock mqtt.js, with the transport's `connect` instead of `mqtt.connect`, or at the node door
 * with the fallback's sockets.
 */
const parameters = new URLSearchParams(location.search);
const url = parameters.get('url') ?? '';
const protocolVersion = parameters.get('version') === '4' ? 4 : 5;

function say(text: string): void {
  const item = document.createElement('li');
  item.textContent = text;
  document.getElementById('log')?.append(item);
}

const fallback = createFallback({ onWire: say });
const options = { protocolVersion, clean: true } as const;
const client = parameters.has('fallback')
  ? mqtt.connect(url, { ...options, createWebsocket: fallback.createWebsocket })
  : connect(mqtt, url, options);
client.on('error', (error) => say(`error: ${error.message}`));
client.on('message', (topic, payload, { qos, retain }) => {
  say(`${topic} ${payload.toString()} qos ${qos}${retain ? ' retained' : ''}`);
});
client.once('connect', async () => {
  say('connected');
  await client.publishAsync('browser/retained', 'kept', { qos: 1, retain: true });
  await client.subscribeAsync('browser/#', { qos: 2 });
  for (const qos of [0, 1, 2] as const) await client.publishAsync(`browser/${qos}`, 'hello', { qos });
  await client.publishAsync('browser/bye', 'done', { qos: 1 });
});
Object.assign(window, { end: () => client.endAsync().then(() => say('ended')) });
