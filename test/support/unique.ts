import { randomUUID } from 'node:crypto';

/** A name no other test and no earlier run has used: for client ids and topics at a broker that others share. */
export function unique(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}
