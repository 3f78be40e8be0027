import { type Bill, type BillOptions, billOfItems } from './bill.ts';
import { inEnglish } from './english.ts';
import { GIGABYTE } from './price.ts';
import { priceBook } from './price-book.ts';
import type { Traffic } from './traffic.ts';

/** A machine for one process of the node door. */
export interface Machine {
  readonly name: string;
  readonly usdPerMonth: number;
  /** Connections that one process takes; its limit is `--connections-max`. */
  readonly connectionsMax: number;
  /** Messages a second, in and out together, that the machine has to handle. */
  readonly messagesPerSecondMax: number;
}

/**
 * A small machine with a documented price. Its capacity is an assumption: the node's own limit of connections, and a
 * rate far below what one process does on a core of this kind (loadtest/results/benchmarks.md has what was measured).
 */
export const SMALL_MACHINE: Machine = {
  name: `${priceBook.machine.service}, ${priceBook.machine.item}`,
  usdPerMonth: priceBook.machine.usd,
  connectionsMax: 18_000,
  messagesPerSecondMax: 5_000,
};

export interface NodeDoor {
  readonly machine: Machine;
  readonly usd: number;
  readonly bill: Bill;
  /** The reasons why it does not carry this traffic; empty if it does. */
  readonly misfits: readonly string[];
  readonly assumptions: readonly string[];
}

/** A month of the traffic at the node door. Outgoing data is charged in full, even if a plan includes some. */
export function nodeDoor(
  traffic: Traffic,
  machine: Machine = SMALL_MACHINE,
  options: BillOptions = {},
): NodeDoor {
  const gigabytes = (traffic.deliveries * traffic.messageBytes) / GIGABYTE;
  const transfer = billOfItems(
    [{ label: 'Data transfer out, GB', price: 'dataTransferOut', quantity: gigabytes }],
    options,
  );
  const usd = machine.usdPerMonth + transfer.usd;
  const plan = {
    label: machine.name,
    price: 'machine',
    quantity: 1,
    unitUsd: machine.usdPerMonth,
    usd: machine.usdPerMonth,
    share: machine.usdPerMonth / usd,
  } as const;
  const lines = [plan, ...transfer.lines.map((line) => ({ ...line, share: line.usd / usd }))];
  return {
    machine,
    usd,
    bill: { lines, usd },
    misfits: misfitsOf(traffic, machine),
    assumptions: [
      `One process on one machine (${machine.name}, $${machine.usdPerMonth} a month); no other takes over when it fails, and your time is not counted.`,
      `It takes ${inEnglish(machine.connectionsMax)} connections and ${inEnglish(machine.messagesPerSecondMax)} messages a second.`,
      'Data out is charged from the first gigabyte, although the plan includes some.',
    ],
  };
}

function misfitsOf(traffic: Traffic, machine: Machine): readonly string[] {
  const misfits: string[] = [];
  if (traffic.clients > machine.connectionsMax) {
    misfits.push(`One process takes ${inEnglish(machine.connectionsMax)} connections.`);
  }
  if (traffic.messagesPerSecond > machine.messagesPerSecondMax) {
    misfits.push(
      `A small machine is asked for at most ${inEnglish(machine.messagesPerSecondMax)} messages a second.`,
    );
  }
  return misfits;
}
