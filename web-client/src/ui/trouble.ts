import { reasonCodeName } from '@apus/mqtt/reason-codes';
import type { Trouble } from '../engine/types.ts';
import { fill } from './format.ts';
import { reasons } from './reasons.ts';
import { troubles } from './troubles.ts';

type ReasonKey = keyof typeof reasons;

/** An error, in words. */
export interface TroubleWords {
  readonly title: string;
  /** Its meaning and advice; '' if the title suffices. */
  readonly advice: string;
  /** The message of the server or a library; '' if there is none. */
  readonly detail: string;
}

/** Close codes of WebSocket with their own words (RFC 6455, 7.4). */
const CLOSE_KEYS = {
  1001: 'goingAway',
  1003: 'binary',
  1008: 'policy',
  1009: 'tooLarge',
  1011: 'serverError',
  1012: 'restart',
} as const;

const KIND_KEYS = {
  url: 'url',
  'mixed-content': 'mixedContent',
  'no-door': 'noDoor',
  'connect-timeout': 'connectTimeout',
  'keep-alive': 'keepAlive',
  protocol: 'protocol',
  transport: 'transport',
  offline: 'offline',
  invalid: 'invalid',
  'too-large': 'packetTooLarge',
} as const;

/** All of it in one line. */
export function troubleSentence({ title, advice, detail }: TroubleWords): string {
  const said = detail === '' ? '' : `“${detail}”`;
  return [`${title}${advice === '' && said === '' ? '' : '.'}`, advice, said]
    .filter((part) => part !== '')
    .join(' ');
}

/** Gives an error a title and advice for people. */
export function troubleWords({ kind, code, detail }: Trouble): TroubleWords {
  if (kind === 'reason') return { ...reasonWords(code ?? 0x80), detail };
  if (kind === 'closed') return { ...closeWords(code), detail };
  return { ...troubles[KIND_KEYS[kind]], detail };
}

/** A reason code in words, with its number in front. */
export function reasonWords(code: number): { readonly title: string; readonly advice: string } {
  const hex = code.toString(16).padStart(2, '0');
  const key = `x${hex}`;
  if (!isReasonKey(key)) {
    return { title: `Reason code 0x${hex}`, advice: 'MQTT does not know this code.' };
  }
  return { title: `0x${hex.toUpperCase()} ${reasonCodeName(code)}`, advice: reasons[key] };
}

function closeWords(code: number | undefined): { readonly title: string; readonly advice: string } {
  if (code === undefined) return troubles.lost;
  if (code === 1006) return troubles.unreachable;
  const key = Object.hasOwn(CLOSE_KEYS, code) ? CLOSE_KEYS[code as keyof typeof CLOSE_KEYS] : 'closed';
  return { title: fill(troubles[key].title, { code }), advice: troubles[key].advice };
}

function isReasonKey(key: string): key is ReasonKey {
  return Object.hasOwn(reasons, key);
}
