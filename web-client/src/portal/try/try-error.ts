import { reasonCodeName } from '@apus/mqtt/reason-codes';
import { tryText } from '../strings.ts';

/** The reason why the broker did not do what the visitor asked for. */
export type Refusal =
  | { readonly is: 'refused'; readonly code: number; readonly reason: string | undefined }
  | { readonly is: 'unreachable' }
  | { readonly is: 'silent' }
  | { readonly is: 'other'; readonly message: string };

export class TryError extends Error {
  override readonly name = 'TryError';
  readonly refusal: Refusal;

  constructor(refused: Refusal) {
    super(inWords(refused));
    this.refusal = refused;
  }
}

interface Answer {
  readonly properties?: { readonly reasonString?: string | undefined } | undefined;
}

/** Of an error of mqtt.js and the packet that caused it. */
export function refusal(
  error: Error | null | undefined,
  code: number | undefined,
  answer: object | undefined,
  before?: Refusal,
): Refusal {
  const known = code ?? (error as { readonly code?: unknown } | null | undefined)?.code;
  if (typeof known === 'number' && known >= 0x80) {
    if (before?.is === 'refused' && before.code === known) return before;
    return { is: 'refused', code: known, reason: (answer as Answer | undefined)?.properties?.reasonString };
  }
  return before ?? { is: 'other', message: error?.message ?? '' };
}

/** The end of a connection, with what the broker has said. */
export function ended(reason: Refusal | undefined): Refusal {
  return reason ?? { is: 'unreachable' };
}

/** A sentence without its end; the broker's own words come last. */
export function inWords(refused: Refusal): string {
  if (refused.is === 'unreachable') return tryText.noConnection;
  if (refused.is === 'silent') return tryText.noAnswer;
  if (refused.is === 'other') return refused.message;
  const { code, reason } = refused;
  const named = `${tryText.reasons[code] ?? reasonCodeName(code)} (${tryText.code(code)})`;
  return reason === undefined ? `${named}.` : `${named}. ${reason}`;
}
