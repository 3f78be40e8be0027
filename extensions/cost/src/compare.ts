import { type Bill, type BillOptions, billOfItems, type Item } from './bill.ts';
import { IOT_METERED_BYTES } from './budgets.ts';
import { usdText } from './finding.ts';
import { objectDoor } from './object-door.ts';
import { GIGABYTE } from './price.ts';
import type { Traffic } from './traffic.ts';

/** The same traffic somewhere else. */
export interface Offer {
  readonly service: string;
  readonly bill: Bill;
  /** The assumptions behind the price, in sentences. */
  readonly assumptions: readonly string[];
  /** The parts of this traffic that the service does not support, by its published limits. */
  readonly misfits: readonly string[];
}

const ABLY_METERED_BYTES = 5 * 1024;

const APPSYNC_METERED_BYTES = 5 * 1024;

/** Bytes of a publish or delivery besides its topic and payload: fixed header, topic length, packet id, PUBACK. */
const MQTT_OVERHEAD_BYTES = 12;

/** AWS IoT Core by its published metering rules, with QoS 0 for subscribers that acknowledge nothing here either. */
export function awsIotCore(traffic: Traffic, options: BillOptions = {}): Offer {
  const each = metered(traffic.messageBytes, IOT_METERED_BYTES);
  const messages: Item[] = [
    item('CONNECT', traffic.connects),
    item('SUBSCRIBE', traffic.subscribes),
    item('PUBLISH from clients', traffic.publishes * each),
    item('PUBLISH to clients', traffic.deliveries * each),
    item('PUBACK from clients', traffic.acknowledgedDeliveries),
    item('Messages stored for clients that are away', traffic.queuedDeliveries * each),
  ];
  function item(label: string, quantity: number): Item {
    return { label, price: 'iotMessage', quantity };
  }
  const minutes: Item = {
    label: 'Connection-minutes',
    price: 'iotConnectionMinute',
    quantity: traffic.connectionMinutes,
  };
  return {
    service: 'AWS IoT Core',
    bill: billOfItems([minutes, ...messages], options),
    assumptions: [
      'CONNECT and SUBSCRIBE are one message of 5 KB each; pings, CONNACK, SUBACK, DISCONNECT and PUBACK from the service are free.',
      'A PUBACK from the device is metered; a message stored for a persistent session is metered once more.',
      'No rules, no retained messages, no registry, and no data transfer out, which its price pages do not name.',
      ...qos1Sentences(traffic, options),
    ],
    misfits: [
      ...(traffic.qos === 2 ? ['There is no QoS 2.'] : []),
      ...historyMisfits(traffic),
      ...(traffic.messageBytes > 131_072 ? ['Messages are at most 128 KB.'] : []),
    ],
  };
}

function qos1Sentences(traffic: Traffic, options: BillOptions): readonly string[] {
  if (traffic.sparedAcknowledgements === 0) return [];
  const acknowledgedDeliveries = traffic.acknowledgedDeliveries + traffic.sparedAcknowledgements;
  const { bill } = awsIotCore({ ...traffic, acknowledgedDeliveries, sparedAcknowledgements: 0 }, options);
  return [
    `Subscribers whose session ends with its connection have QoS 0, as they acknowledge nothing at the gateway door either; with QoS 1 and its PUBACKs it is ${usdText(bill.usd)} in all.`,
  ];
}

function historyMisfits({ streamedMessages }: Traffic): readonly string[] {
  return streamedMessages > 0 ? ['There is no history.'] : [];
}

/** AWS AppSync Events by its published prices. */
export function appSyncEvents(traffic: Traffic, options: BillOptions = {}): Offer {
  const each = metered(traffic.messageBytes, APPSYNC_METERED_BYTES);
  const operations: Item[] = [
    item('Connecting', traffic.connects),
    item('Subscribing', traffic.subscribes + traffic.savedSubscribes),
    item('Publishing', traffic.publishes * each),
    item('Delivering', traffic.deliveries * each),
  ];
  function item(label: string, quantity: number): Item {
    return { label, price: 'appsyncOperation', quantity };
  }
  const minutes: Item = {
    label: 'Connection-minutes',
    price: 'appsyncConnectionMinute',
    quantity: traffic.connectionMinutes,
  };
  const bytes = traffic.deliveries * traffic.messageBytes;
  const transfer: Item = {
    label: 'Data transfer out, GB',
    price: 'dataTransferOut',
    quantity: bytes / GIGABYTE,
  };
  return {
    service: 'AWS AppSync Events',
    bill: billOfItems([minutes, ...operations, transfer], options),
    assumptions: [
      'A publish and each delivery are an operation for every 5 KB begun, connecting is one, and subscribing once for each connection; keep-alives are free.',
      'Payloads are JSON without base64, no handler runs, and its envelope is as long as a topic. It speaks its own protocol, not MQTT.',
      'It promises no order; this puts no traffic in brackets.',
    ],
    misfits: [
      ...(traffic.qos > 0
        ? [`There is no QoS ${traffic.qos}: a message for a client whose connection is gone is lost.`]
        : []),
      ...(traffic.queuedDeliveries > 0 ? ['Nothing is kept for a client that is away.'] : []),
      ...historyMisfits(traffic),
      ...(traffic.messageBytes > 245_760 ? ['Messages are at most 240 KB.'] : []),
    ],
  };
}

/** EMQX Serverless by its published prices. */
export function emqxServerless(traffic: Traffic, options: BillOptions = {}): Offer {
  const bytes = (traffic.publishes + traffic.deliveries) * (traffic.messageBytes + MQTT_OVERHEAD_BYTES);
  const items: Item[] = [
    {
      label: 'Session-minutes',
      price: 'emqxSessionMinute',
      quantity: traffic.connectionMinutes + traffic.offlineSessionMinutes,
    },
    { label: 'Traffic in and out, GB', price: 'emqxTraffic', quantity: bytes / GIGABYTE },
  ];
  return {
    service: 'EMQX Serverless',
    bill: billOfItems(items, options),
    assumptions: [
      `Traffic is topic, payload and ${MQTT_OVERHEAD_BYTES} bytes of MQTT for each publish and delivery; TLS, TCP, pings and connects are left out.`,
      'Every minute begun of a session is counted as it is here: as a part of a minute.',
    ],
    misfits: [
      ...(traffic.clients > 1_000 ? ['A deployment takes 1,000 connections.'] : []),
      ...(traffic.messagesPerSecond > 1_000 ? ['A deployment takes 1,000 messages a second.'] : []),
    ],
  };
}

/** Ably by its published prices for minutes. */
export function ably(traffic: Traffic, options: BillOptions = {}): Offer {
  const each = metered(traffic.messageBytes, ABLY_METERED_BYTES);
  const items: Item[] = [
    { label: 'Messages published', price: 'ablyMessage', quantity: traffic.publishes * each },
    { label: 'Messages delivered', price: 'ablyMessage', quantity: traffic.deliveries * each },
    { label: 'Connection-minutes', price: 'ablyConnectionMinute', quantity: traffic.connectionMinutes },
    { label: 'Channel-minutes', price: 'ablyChannelMinute', quantity: traffic.topicMinutes },
  ];
  return {
    service: 'Ably',
    bill: billOfItems(items, options),
    assumptions: [
      'Each publish and each delivery is a message for every 5 KiB begun; publishers do not get echoes of their own.',
      "A topic is a channel while somebody uses it. The package's base fee (from $29 a month) is left out.",
      'These are the prices of accounts that are billed for messages and minutes; a new account is billed for monthly active users.',
    ],
    misfits: [
      ...(traffic.qos > 0 ? ['MQTT subscribers get QoS 0 only.'] : []),
      ...(traffic.queuedDeliveries > 0 ? ['Nothing is kept for an MQTT client that is away.'] : []),
    ],
  };
}

/** The object door and other services, in the order of their price for this traffic. */
export function compare(traffic: Traffic, options: BillOptions = {}): readonly Offer[] {
  return [objectDoor, awsIotCore, appSyncEvents, emqxServerless, ably]
    .map((offer) => offer(traffic, options))
    .sort((a, b) => a.bill.usd - b.bill.usd);
}

/** How many metered messages one message of this size is; an empty one counts as one. */
function metered(bytes: number, stepBytes: number): number {
  return Math.max(1, Math.ceil(bytes / stepBytes));
}
