import { sessionItemKey } from '../table/keys.ts';
import type { SessionName, SweepPosition } from './scan.ts';

/** Where a scan of sessions goes on behind one of them. */
export function positionBehind({ tenant, clientId }: SessionName): SweepPosition {
  return sessionItemKey(tenant, clientId);
}
