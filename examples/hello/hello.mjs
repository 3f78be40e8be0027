// Publishes a message to itself, through the gateway door: `node hello.mjs`, or `node hello.mjs wss://…/mqtt TOKEN`.
import { connect } from '@apus/client';
import mqtt from 'mqtt';

const [url = 'ws://127.0.0.1:8084/mqtt', token] = process.argv.slice(2);
const client = connect(mqtt, url, { protocolVersion: 5 }, token === undefined ? {} : { token: () => token });

const lost = () => fail(new Error('no connection'));

function fail(error) {
  client.off('close', lost);
  console.error(`${url}: ${error.message}`);
  client.end(true);
  process.exitCode = 1;
}

client.on('error', fail);
// The WebSocket of Node.js 22 and later does not say why it cannot connect, as that of a browser.
client.on('close', lost);
client.on('message', (topic, payload) => {
  console.log(`${topic}: ${payload}`);
  client.off('close', lost);
  client.end();
});
client.on('connect', async () => {
  try {
    await client.subscribeAsync('hello/#', { qos: 1 });
    await client.publishAsync('hello/world', 'Hello, Apus', { qos: 1 });
  } catch (error) {
    fail(error);
  }
});
