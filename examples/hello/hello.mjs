// Publishes a message to itself, through the gateway door: `node hello.mjs`, or `node hello.mjs wss://…/mqtt TOKEN`.
import { connect } from '@apus/client';
import mqtt from 'mqtt';

const [url = 'ws://127.0.0.1:8084/mqtt', token] = process.argv.slice(2);
const client = connect(mqtt, url, { protocolVersion: 5 }, token === undefined ? {} : { token: () => token });

client.on('error', (error) => {
  console.error(`${url}: ${error.message}`);
  client.end(true);
  process.exitCode = 1;
});
client.on('message', (topic, payload) => {
  console.log(`${topic}: ${payload}`);
  client.end();
});
client.on('connect', async () => {
  await client.subscribeAsync('hello/#', { qos: 1 });
  await client.publishAsync('hello/world', 'Hello, Apus', { qos: 1 });
});
