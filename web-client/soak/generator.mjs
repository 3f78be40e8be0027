// Publishes a steady stream, in a process of its own so that its work is not that of the page.
// Told by IPC: { url, rate, topics }; then { type: 'start' } and { type: 'stop' }. Tells how many were written.
import { createRequire } from 'node:module';

const mqtt = createRequire(import.meta.url)('mqtt');

/** What is due is published this often. */
const TICK_MS = 4;

/** After a pause of the process no more than this is made up for at once. */
const BEHIND_MS_MAX = 200;

/** @type {{ url: string, rate: number, topics: number }} */
const { url, rate, topics } = JSON.parse(process.argv[2] ?? '{}');
const client = await mqtt.connectAsync(url, { protocolVersion: 5, clientId: 'soak-generator' });
let sent = 0;
let timer;
let beganAt = 0;
let due = 0;

function publishDue() {
  const late = performance.now() - beganAt;
  const target = Math.floor((late * rate) / 1_000);
  if (target - due > (BEHIND_MS_MAX * rate) / 1_000)
    due = target - Math.floor((BEHIND_MS_MAX * rate) / 1_000);
  for (; due < target; due += 1) {
    client.publish(`soak/${sent % topics}/state`, payload(sent));
    sent += 1;
  }
}

/** @param {number} number */
function payload(number) {
  return JSON.stringify({
    seq: Math.floor(number / topics),
    ts: Date.now(),
    value: Math.round(Math.sin(number / 2_000) * 1_000) / 10,
    unit: '°C',
    healthy: number % 97 !== 0,
  });
}

process.on('message', ({ type }) => {
  if (type === 'start') {
    beganAt = performance.now();
    timer = setInterval(publishDue, TICK_MS);
  } else if (type === 'count') {
    process.send?.({ sent });
  } else {
    clearInterval(timer);
    client.endAsync().then(() => {
      process.send?.({ sent, isDone: true });
      process.disconnect();
    });
  }
});
process.send?.({ isReady: true });
