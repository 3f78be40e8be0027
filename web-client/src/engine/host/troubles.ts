import { isPassing as isPassingReason } from '@apus/mqtt/reason-codes';
import type { Trouble, TroubleKind } from '../types.ts';

/** MQTT 3.1.1's return codes of CONNACK (table 3.1) as reason codes, which have better descriptions. */
const RETURN_CODES: Readonly<Record<number, number>> = { 1: 0x84, 2: 0x85, 3: 0x88, 4: 0x86, 5: 0x87 };

export function trouble(kind: TroubleKind, atMs: number, code?: number, detail = ''): Trouble {
  return { kind, code, detail, atMs };
}

export function asReasonCode(code: number, protocolVersion: number): number {
  return protocolVersion === 5 ? code : (RETURN_CODES[code] ?? code);
}

/** Whether another attempt to connect may succeed. */
export function isPassing({ kind, code }: Trouble): boolean {
  if (kind === 'url' || kind === 'mixed-content' || kind === 'no-door' || kind === 'invalid') return false;
  return kind !== 'reason' || (code !== undefined && isPassingReason(code));
}

/** The meaning of an `error` event of mqtt.js or of the transport. */
export function troubleOf(error: unknown, atMs: number, protocolVersion: number): Trouble {
  const { message, code, name } = asError(error);
  if (name === 'TransportError') return trouble('transport', atMs, undefined, message);
  if (message === 'connack timeout') return trouble('connect-timeout', atMs);
  if (message === 'Keepalive timeout') return trouble('keep-alive', atMs);
  // Node.js gives the reason why it reached no server (ECONNREFUSED); a browser never does.
  if (typeof code === 'string') return trouble('closed', atMs, 1006, message);
  if (typeof code === 'number') return trouble('reason', atMs, asReasonCode(code, protocolVersion));
  return trouble('protocol', atMs, undefined, message);
}

function asError(error: unknown): { message: string; name: string; code: unknown } {
  if (!(error instanceof Error)) return { message: String(error), name: '', code: undefined };
  return { message: error.message, name: error.name, code: 'code' in error ? error.code : undefined };
}
