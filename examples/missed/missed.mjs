// Publishes six numbers, the third and the fourth while the subscriber's connection is gone, and prints those that it
// receives. With APPSYNC_API_KEY it does so at an Event API of AWS AppSync, else at the gateway door of Apus.

import { appSyncEvents } from './appsync-events.mjs';
import { apus } from './apus.mjs';

/** QoS 1 is at least once: a number may come twice. @type {Set<number>} */
const received = new Set();
/** @type {Map<number, () => void>} */
const awaited = new Map();

/** @param {number} number */
function receive(number) {
  received.add(number);
  awaited.get(number)?.();
}

/** @param {import('./service.ts').Service} service @param {number} number */
async function publishAndReceive(service, number) {
  const arrival = new Promise((resolve) => awaited.set(number, () => resolve(undefined)));
  await service.publish(number);
  await arrival;
}

const service = process.env.APPSYNC_API_KEY === undefined ? apus() : appSyncEvents();
const before = await service.subscribe(receive);
for (const number of [1, 2]) await publishAndReceive(service, number);
await before.cut();
for (const number of [3, 4]) await service.publish(number);
const after = await service.subscribe(receive);
for (const number of [5, 6]) await publishAndReceive(service, number);
await after.cut();
await service.end();
console.log(`${service.name}: received ${[...received].join(', ')}`);
