import type { PublishFate } from '../../engine/types.ts';
import { reasonWords } from '../../ui/trouble.ts';
import { messagesWords } from './strings.ts';

const { fates } = messagesWords;

/** MQTT 5's PUBACK says that no client is subscribed. */
const NO_MATCHING_SUBSCRIBERS = 0x10;

/** The outcome of a published message: in a word, and in a sentence. */
export interface FateWords {
  readonly short: string;
  readonly long: string;
}

/** @param qos of the message: at QoS 0 no answer follows */
export function fateWords({ state, code, detail }: PublishFate, qos: number): FateWords {
  if (state === 'refused') {
    const { title } = reasonWords(code ?? 0x80);
    const why = detail === '' ? title : `${title}: “${detail}”`;
    return { short: hex(code ?? 0x80), long: `Refused: ${why}` };
  }
  if (state === 'sent') return fates[qos === 0 ? 'sent' : 'waiting'];
  if (state !== 'acknowledged') return fates[state];
  if (code === undefined) return fates.acknowledgedBlind;
  return fates[code === NO_MATCHING_SUBSCRIBERS ? 'noMatchingSubscribers' : 'acknowledged'];
}

function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, '0').toUpperCase()}`;
}
