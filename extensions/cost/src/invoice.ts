import { type Bill, billOfItems, type Item } from './bill.ts';
import { GIGABYTE } from './price.ts';

/** The usage of a tenant in a month, as a broker counts it (`UsageCounts` of `@apus/broker`). */
export interface InvoicedUsage {
  readonly connectionMs: number;
  readonly messagesIn: number;
  readonly messagesOutQos0: number;
  readonly messagesOutQos1: number;
  readonly messagesOutQos2: number;
  readonly bytesOut: number;
  readonly framesIn: number;
  readonly framesOut: number;
  readonly storageByteSeconds: number;
}

export const INVOICE_FIELDS: readonly (keyof InvoicedUsage)[] = [
  ...(['connectionMs', 'messagesIn', 'messagesOutQos0', 'messagesOutQos1', 'messagesOutQos2'] as const),
  ...(['bytesOut', 'framesIn', 'framesOut', 'storageByteSeconds'] as const),
];

const MINUTE_MS = 60_000;
/** AWS's GB-month, here with thirty days. */
const MONTH_SECONDS = 30 * 86_400;

/**
 * The lines of an invoice for a month: list prices of the price book, with a margin on each. If frames were counted
 * they are the messages that API Gateway bills; at a node without a gateway door each MQTT message counts as one.
 *
 * @param marginShare 0.3 adds 30 % to each price
 * @default 0
 * @throws {RangeError} for a usage or a margin that is negative or no number
 */
export function invoiceOf(used: InvoicedUsage, marginShare = 0): Bill {
  if (!Number.isFinite(marginShare) || marginShare < 0)
    throw new RangeError(`a margin is a share from 0 up, not ${marginShare}`);
  const { lines, usd } = billOfItems(itemsOf(used));
  const factor = 1 + marginShare;
  return {
    lines: lines.map((line) => ({ ...line, unitUsd: line.unitUsd * factor, usd: line.usd * factor })),
    usd: usd * factor,
  };
}

function itemsOf(used: InvoicedUsage): readonly Item[] {
  return [
    {
      label: 'Connection-minutes',
      price: 'gatewayConnectionMinute',
      quantity: used.connectionMs / MINUTE_MS,
    },
    ...messageItems(used),
    { label: 'Data out, GB', price: 'dataTransferOut', quantity: used.bytesOut / GIGABYTE },
    {
      label: 'Storage, GB-months',
      price: 'dynamodbStorage',
      quantity: used.storageByteSeconds / GIGABYTE / MONTH_SECONDS,
    },
  ];
}

function messageItems(used: InvoicedUsage): readonly Item[] {
  const price = 'gatewayMessage';
  if (used.framesIn + used.framesOut > 0)
    return [
      { label: 'Gateway messages in', price, quantity: used.framesIn },
      { label: 'Gateway messages out', price, quantity: used.framesOut },
    ];
  const out = used.messagesOutQos0 + used.messagesOutQos1 + used.messagesOutQos2;
  return [
    { label: 'Messages in', price, quantity: used.messagesIn },
    { label: 'Messages out', price, quantity: out },
  ];
}
