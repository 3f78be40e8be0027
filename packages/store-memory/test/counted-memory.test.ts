import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { OpenSession, SessionRef } from '@apus/broker';
import {
  attachmentOf,
  deliveryTo,
  messageId,
  messageOf,
  openedOf,
  openOf,
  ROOMY,
  subscriptionTo,
} from '@apus/broker/samples';
import { createMemoryStores, MemoryBudget, type MemoryStores } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const NO_LIMITS = { messagesMax: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };
/** Memory of the test itself that a collection leaves, and that maps have reserved. */
const TOLERANCE = 1.15;

function takenBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** As many different texts as a client can send: none shares its memory with another. */
function levelsOf(seed: number, count: number): string {
  return Array.from({ length: count }, (_, level) => `${seed}-${level}`).join('/');
}

const payload = () => new Uint8Array(1);
const open = (stores: MemoryStores, clientId: string, fields: Partial<OpenSession> = {}): SessionRef =>
  openedOf(stores.sessions.open(openOf(clientId, fields))).session;

function retain(stores: MemoryStores, count: number, topicOf: (index: number) => string): void {
  for (let index = 0; index < count; index += 1) {
    const message = messageOf({ topic: topicOf(index), id: messageId(index), payload: payload() });
    stores.retained.put('t', message, NO_LIMITS);
  }
}

function queue(stores: MemoryStores, sessions: number, receiveMaximum: number): void {
  for (let number = 0; number < sessions; number += 1) {
    const attachment = attachmentOf(`n${number}`, { receiveMaximum });
    const session = open(stores, `c${number}`, { attachment });
    for (let index = 0; index < 100; index += 1) {
      const message = messageOf({ qos: 1, topic: `t/${index}`, id: messageId(index), payload: payload() });
      stores.queues.offer(message, [deliveryTo(session, { qos: 1 })], ROOMY);
    }
  }
}

/** Each fills the stores with one thing that clients can have kept, in its costliest form. */
const FILLINGS: Readonly<Record<string, (stores: MemoryStores) => void>> = {
  sessions: (stores) => {
    for (let index = 0; index < 20_000; index += 1) open(stores, `client-${index}`);
  },
  'sessions of identities with rules': (stores) => {
    for (let index = 0; index < 500; index += 1) {
      const topicFilters = Array.from({ length: 5 }, (_, filter) => `${index}/${filter}`);
      const rules = Array.from({ length: 50 }, () => ({
        ...({ effect: 'allow', action: 'all' } as const),
        topicFilters: topicFilters.map((filter) => `${filter}/#`),
      }));
      open(stores, `client-${index}`, { identity: { tenant: 't', name: `${index}`, rules } });
    }
  },
  'short filters': (stores) => {
    for (let number = 0; number < 200; number += 1) {
      const session = open(stores, `c${number}`);
      for (let index = 0; index < 100; index += 1)
        stores.subscriptions.put(session, [subscriptionTo(`${number}/+/${index}`)], 1_000_000);
    }
  },
  'filters of 200 levels': (stores) => {
    const session = open(stores, 'c');
    for (let index = 0; index < 2_000; index += 1)
      stores.subscriptions.put(session, [subscriptionTo(`${levelsOf(index, 199)}/+`)], 1_000_000);
  },
  'filters of 200 levels that part at each': (stores) => {
    const session = open(stores, 'c');
    for (let index = 0; index < 5_000; index += 1) {
      const filter = `${'a/'.repeat(index % 199)}${levelsOf(index, 199 - (index % 199))}/+`;
      stores.subscriptions.put(session, [subscriptionTo(filter)], 1_000_000);
    }
  },
  'retained messages': (stores) => retain(stores, 20_000, (index) => `t/${index}`),
  'retained messages of 200 levels': (stores) => retain(stores, 2_000, (index) => levelsOf(index, 200)),
  'retained messages with user properties': (stores) => {
    for (let index = 0; index < 1_000; index += 1) {
      const userProperties = Array.from({ length: 100 }, (_, at) => [`${index}-${at}`, `${at}-${index}`]);
      const properties = { userProperties: userProperties as [string, string][] };
      const message = messageOf({
        topic: `t/${index}`,
        id: messageId(index),
        payload: payload(),
        properties,
      });
      stores.retained.put('t', message, NO_LIMITS);
    }
  },
  'messages that wait': (stores) => queue(stores, 200, 1),
  'messages inflight': (stores) => queue(stores, 200, 100),
  'messages that wait for many': (stores) => {
    const sessions = Array.from({ length: 1_000 }, (_, number) => open(stores, `c${number}`));
    for (let index = 0; index < 50; index += 1) {
      const message = messageOf({ qos: 1, id: messageId(index), payload: payload() });
      const deliveries = sessions.map((session) => deliveryTo(session, { qos: 1 }));
      stores.queues.offer(message, deliveries, ROOMY);
    }
  },
  receipts: (stores) => {
    for (let number = 0; number < 200; number += 1) {
      const session = open(stores, `c${number}`);
      for (let packetId = 1; packetId <= 100; packetId += 1) {
        stores.received.begin(session, packetId, messageId(number * 100 + packetId), 1_000);
        stores.received.markDelivered(session, packetId);
      }
    }
  },
};

describe('the budget counts the memory that is used, or more', () => {
  it.each(Object.entries(FILLINGS))('%s [SEC-MEMORY-5]', (_name, fill) => {
    const memory = new MemoryBudget();
    const stores = createMemoryStores(memory);
    const before = takenBytes();
    fill(stores);
    const took = takenBytes() - before;
    expect(took).toBeLessThan(memory.bytes * TOLERANCE);
    // The stores are still there: they were not collected.
    expect(stores.sessions.count()).toBeGreaterThanOrEqual(0);
  });
});
