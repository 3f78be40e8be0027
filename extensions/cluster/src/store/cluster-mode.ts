import type { Redis } from 'iovalkey';
import { EngineError } from './errors.ts';

/** A node of the engine's own cluster. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A range of slots as the engine tells it: from, to, its primary, and its replicas. */
type SlotRange = readonly [from: number, to: number, primary: readonly [string | null, number, string]];

/**
 * The node that takes writes of our keys, if the engine runs in cluster mode (MemoryDB always does): all keys are in
 * one slot, so one node has them. Undefined: the client is connected to that node.
 *
 * The address of such an engine may lead to any of its nodes, and a replica answers a write with MOVED. So does the
 * former primary after a failover: then the process ends itself, and asks again when it is started again.
 *
 * @throws {EngineError} if no node has the slot
 */
export async function primaryOf(client: Redis, prefix: string, shown: string): Promise<Address | undefined> {
  const slot = Number(await client.cluster('KEYSLOT', prefix));
  const ranges = (await client.cluster('SLOTS')) as unknown as readonly SlotRange[];
  const found = ranges.find(([from, to]) => from <= slot && slot <= to);
  if (found === undefined)
    throw new EngineError(
      `The engine at ${shown} runs in cluster mode, and none of its nodes has slot ${slot}.`,
    );
  const [, , [host, port, id]] = found;
  // A node that does not know its own address omits it.
  if (!host || id === (await client.cluster('MYID'))) return undefined;
  return { host, port };
}
