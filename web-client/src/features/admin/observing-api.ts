import type { ClientEvent, TraceLog } from '@apus/api';
import { observingWords } from './observing-strings.ts';

export const DROP_REASONS = [
  'queue_full',
  'qos0_msg',
  'too_large',
  'not_authorized',
  'identity_expired',
] as const;

export type TraceAnswer = Pick<TraceLog, 'status' | 'lines' | 'left_out'> & { readonly position: string };

/** Why something happened, in words where the broker gives a name for it. */
export function reasonText({ reason, reason_code }: Pick<ClientEvent, 'reason' | 'reason_code'>): string {
  if (reason === null) return '–';
  const words = (observingWords.events.reasons as Readonly<Record<string, string>>)[reason] ?? reason;
  const code =
    reason_code === null
      ? ''
      : ` (${reason_code < 256 ? `0x${reason_code.toString(16).padStart(2, '0')}` : reason_code})`;
  return `${words}${code}`;
}
