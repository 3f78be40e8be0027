import { randomUUID } from 'node:crypto';

/** A unique name for client identifiers and topics at a broker that other tests use too. */
export function unique(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}
